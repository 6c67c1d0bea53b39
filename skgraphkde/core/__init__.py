"""Numbers: a batch of graphs -> scores, p-values and verdicts, without files or sentences."""
