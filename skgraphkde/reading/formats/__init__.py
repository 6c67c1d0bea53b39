"""Readers of single graphs, one function a format.

A module reads networkx (:mod:`networkx`), igraph, graphs of tensors (DGL and PyTorch Geometric),
molecules of RDKit, edge lists, or tuples (matrices, and triples as in GraKeL). Its functions take
the position of a graph in the caller's list, the graph, and the schema. They return a
:class:`~skgraphkde.reading.formats.common.Graph` (numbered nodes, pairs of them, and columns of
data), or raise one error that names the node and the remedy. No package is imported to read its
graphs, and graphs are never changed.
"""
