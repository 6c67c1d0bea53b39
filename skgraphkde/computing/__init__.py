"""How things are computed: threads, devices, sparse products, blocks that fit in memory."""
