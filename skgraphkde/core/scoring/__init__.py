"""Scoring: the views' scores of graphs -> one score, its threshold and p-values."""
