"""Devices: a parameter -> a torch device."""

from __future__ import annotations

from typing import Any

import torch


def resolve_device(device: Any, fitted: bool = False) -> torch.device:
    """The torch device that `device` means.

    Parameters
    ----------
    device : str or torch.device
        "auto" is the GPU if torch sees one, else the CPU.
    fitted : bool, default=False
        Whether the CPU may replace a GPU that is not available: a detector fitted on a GPU still
        works elsewhere.

    Returns
    -------
    torch.device

    Raises
    ------
    ValueError
        If the device is not supported or not available.
    """
    if isinstance(device, str) and device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        resolved = torch.device(device)
    except RuntimeError:
        resolved = None
    if resolved is None or resolved.type not in ("cpu", "cuda"):
        raise ValueError(f"device={device!r} is not supported: use 'auto', 'cpu' or 'cuda'")
    if resolved.type == "cuda" and (resolved.index or 0) >= torch.cuda.device_count():
        if not fitted:
            raise ValueError(f"device={device!r}, but torch sees no such GPU: use 'auto' or 'cpu'")
        return torch.device("cpu")
    return resolved
