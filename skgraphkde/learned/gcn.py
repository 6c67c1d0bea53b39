"""GCN: the specification of a graph convolutional network."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import Interval, StrOptions

from skgraphkde.learned.torch_encoder import TorchEncoder
from skgraphkde.specification import at_least


class GCN(TorchEncoder):
    """Node encoder: a graph convolutional network (Kipf and Welling, ICLR 2017).

    The encoder of the paper is Z_l = relu(BN(Ahat Z_{l-1} W_l)) with Ahat = D^-1/2 (A + I) D^-1/2,
    and dropout between layers. Without ``training`` the weights keep their random initial values.

    If edges have directions or categories, each of these relations r has its own weights, and
    sum_r A_r Z_{l-1} W_{l,r} is added before the batch norm, where A_r averages over a node's
    neighbors in the relation (R-GCN: Schlichtkrull et al., ESWC 2018).

    Parameters
    ----------
    hidden_dim : int, default=128
        Width of each layer, and of the node embeddings unless `out_dim` is given.
    n_layers : int, default=2
        Number of graph convolutions, at least 1.
    dropout : float, default=0.2
        Share of the activations dropped between layers in training, in [0, 1). Nodes of a batch
        that the encoder cannot distinguish share a dropout mask, so that they share a point.
    batch_norm : bool, default=True
        Whether each layer standardizes its columns over the nodes. Outside of training it uses the
        exact statistics of the training nodes, so that a score depends on the graph alone.
    backend : {"auto", "dgl", "torch"}, default="auto"
        Library for message passing. "auto" is DGL if it has a build for the device, otherwise
        torch. Both start from the same weights, but sum in different orders, so that the trained
        weights differ.
    out_dim : int, default=None
        Width of the last layer, and so of the node embeddings. None is `hidden_dim`.
    last_relu : bool, default=True
        Whether the last layer ends with a relu, as the others do. The code of the paper has none
        there, its text has one.

    See Also
    --------
    Propagation : The default encoder, which has no weights.
    Contrastive : Training of the encoder.

    Examples
    --------
    >>> from skgraphkde import GCN, GraphKDEDetector
    >>> GraphKDEDetector(encoder=GCN(hidden_dim=32, batch_norm=False))
    GraphKDEDetector(encoder=GCN(batch_norm=False, hidden_dim=32))
    """

    is_relational = True

    _parameter_constraints: dict = {
        "hidden_dim": [at_least(1, Integral)],
        "n_layers": [at_least(1, Integral)],
        "dropout": [Interval(Real, 0, 1, closed="left")],
        "batch_norm": ["boolean"],
        "backend": [StrOptions({"auto", "dgl", "torch"})],
        "out_dim": [at_least(1, Integral), None],
        "last_relu": ["boolean"],
    }

    def __init__(
        self,
        hidden_dim: int = 128,
        n_layers: int = 2,
        dropout: float = 0.2,
        batch_norm: bool = True,
        backend: str = "auto",
        out_dim: int | None = None,
        last_relu: bool = True,
    ) -> None:
        self.hidden_dim = hidden_dim
        self.n_layers = n_layers
        self.dropout = dropout
        self.batch_norm = batch_norm
        self.backend = backend
        self.out_dim = out_dim
        self.last_relu = last_relu

    def _validate_values(self) -> None:
        super()._validate_values()
        from skgraphkde.learned import dgl_backend

        if self.backend == "dgl" and dgl_backend.import_dgl() is None:
            raise ValueError(
                "backend='dgl' needs DGL, which is not installed or fails to import: use "
                "backend='torch', which gives the same results"
            )

    def build_module(self, in_dim: int, generator: Any, n_relations: int = 0) -> Any:
        """Build the module, with initial weights by Glorot and Bengio (2010).

        Parameters
        ----------
        in_dim, generator, n_relations
            As for :meth:`TorchEncoder.build_module`.

        Returns
        -------
        GCNModule
        """
        from skgraphkde.learned.gcn_module import GCNModule

        return GCNModule(self, in_dim, generator, n_relations)
