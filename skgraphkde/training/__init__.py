"""Training: fit the encoder and the mixture weights by contrasting graphs with perturbed twins."""

from skgraphkde.training.contrastive import Contrastive
from skgraphkde.training.twins import RandomEdges, SpectralEdges, Twins

__all__ = ["Contrastive", "RandomEdges", "SpectralEdges", "Twins"]
