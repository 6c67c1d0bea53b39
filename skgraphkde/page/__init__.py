"""A page to look at: a fitted detector and graphs -> one HTML file that opens without a network."""

from skgraphkde.page.page import report

__all__ = ["report"]
