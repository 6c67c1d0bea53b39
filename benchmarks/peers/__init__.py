"""What a user would otherwise reach for, each a scikit-learn estimator."""
