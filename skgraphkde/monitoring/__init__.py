"""Drift: a fitted detector and new graphs -> alarms when their distribution changes."""

from skgraphkde.monitoring.monitor import Alarm, DriftMonitor

__all__ = ["Alarm", "DriftMonitor"]
