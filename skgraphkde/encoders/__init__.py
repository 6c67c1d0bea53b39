"""Encoders: graphs with node features -> one point per node."""

from skgraphkde.encoders.base import Encoder, FittedEncoder
from skgraphkde.encoders.message_flow import MessageFlow
from skgraphkde.encoders.propagation import Propagation

__all__ = ["Encoder", "FittedEncoder", "MessageFlow", "Propagation"]
