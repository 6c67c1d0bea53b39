"""Forged files: a saved detector with one thing changed, and a checksum that is right."""

import copy
import json
import re

import numpy as np
from safetensors.numpy import save as to_bytes

import skgraphkde
from skgraphkde import InvalidFileError, persistence


def forged(tree, arrays):
    """A file that says this, its checksum right."""
    tree = json.loads(json.dumps(tree))
    arrays = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    content = {"sha256": persistence.digest(tree, arrays), "values": tree}
    return to_bytes(arrays, {"skgraphkde": json.dumps(content)})


def children(node):
    if isinstance(node, dict):
        return list(node.items())
    return list(enumerate(node)) if isinstance(node, list) else []


def places(tree):
    """The paths of all nodes of a tree."""
    found = [((), tree)]
    for path, node in found:
        found += [((*path, key), child) for key, child in children(node)]
    return [path for path, _ in found]


def at(tree, path):
    for key in path:
        tree = tree[key]
    return tree


def find(tree, *names):
    """The place of the one item whose path ends with these names."""
    forms = ("state", "dict", "tuple", "csr")
    found = [
        path
        for path in places(tree)
        if tuple(key for key in path if key not in forms)[-len(names) :] == names
        and path[-1] == names[-1]
    ]
    assert len(found) == 1, found
    return found[0]


def replaced(tree, arrays, path, value, more=None):
    """Another value at this place, and only the arrays that are still in use."""
    tree = copy.deepcopy(tree)
    at(tree, path[:-1])[path[-1]] = value
    nodes, used = [tree], set()
    for node in nodes:
        nodes += [child for _, child in children(node)]
        if isinstance(node, dict) and isinstance(node.get("array"), str):
            used.add(node["array"])
    arrays = arrays | (more or {})
    return forged(tree, {name: array for name, array in arrays.items() if name in used})


def encoded(value):
    """The tree and the arrays of an object, under names that no file uses."""
    tree, arrays = persistence.encode({"grafted": value})
    return tree["dict"]["grafted"], arrays


def outcome(path, content, graphs):
    """Whether a file is "refused", "harmless" (gives finite scores) or "useless" (none at all)."""
    path.write_bytes(content)
    try:
        detector = skgraphkde.load(path)
    except InvalidFileError as error:
        message = str(error)
        assert str(path) in message
        assert len(message) < 1500
        return "refused"
    try:
        assert np.isfinite(detector.score_samples(graphs)).all()
    except ValueError as error:
        if not re.search("is not a finite number|is too far from", str(error)):
            raise
        return "useless"
    return "harmless"


def changed(array, index, value):
    array = np.array(array)
    array.flat[index] = value
    return array
