"""Points: graphs -> node features, and a point for each node."""
