"""Files of fitted objects: the container, the codec, and the registry of allowed classes."""

from skgraphkde.persistence.codec import decode, encode
from skgraphkde.persistence.container import atomic_file, check_regular, digest, read, write
from skgraphkde.persistence.registry import register
from skgraphkde.persistence.state import State, check

__all__ = [
    "State",
    "atomic_file",
    "check",
    "check_regular",
    "decode",
    "digest",
    "encode",
    "read",
    "register",
    "write",
]
