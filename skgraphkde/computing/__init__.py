"""Computing: limits on threads, devices, compiled loops, sparse products, blocks, warnings."""
