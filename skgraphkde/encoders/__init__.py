"""Encoders: graphs with node features -> one point per node."""

from skgraphkde.encoders.base import Encoder, EncoderModule
from skgraphkde.encoders.gcn import GCN
from skgraphkde.encoders.message_flow import MessageFlow
from skgraphkde.encoders.propagation import Propagation

__all__ = ["GCN", "Encoder", "EncoderModule", "MessageFlow", "Propagation"]
