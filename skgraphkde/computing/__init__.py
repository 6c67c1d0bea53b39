"""Computing: limits on threads, compiled loops, operations on arrays, blocks, warnings."""
