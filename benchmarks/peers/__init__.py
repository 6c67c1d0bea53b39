"""Detectors that users would otherwise reach for, each a subclass of BaseGraphDetector."""
