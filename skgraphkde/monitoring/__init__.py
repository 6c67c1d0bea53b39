"""Drift: a fitted detector and new graphs every day -> an alarm when they are no longer alike."""

from skgraphkde.monitoring.monitor import Alarm, DriftMonitor

__all__ = ["Alarm", "DriftMonitor"]
