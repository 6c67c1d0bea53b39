"""What software is made of: CycloneDX and the lock files of npm, both JSON -> networkx graphs.

A node is a component, called by its name, which is its "label"; an edge leads from each to those
that it needs.
"""

from __future__ import annotations

from typing import Any

import networkx as nx

from skgraphkde.reading.files.common import build_graph

OLDEST_LOCK = 2  # of npm 7, in 2020
NESTED = "node_modules/"
# What of a component and of a package is data.
OF_COMPONENTS = ("type", "group", "version", "scope")
OF_PACKAGES = ("version", "dev", "optional", "peer", "hasInstallScript", "license")


def is_cyclonedx(document: Any) -> bool:
    """True for a bill of materials of CycloneDX."""
    return isinstance(document, dict) and document.get("bomFormat") == "CycloneDX"


def is_npm_lock(document: Any) -> bool:
    """True for what npm writes in package-lock.json."""
    return isinstance(document, dict) and "lockfileVersion" in document


def graph_of_cyclonedx(document: dict[str, Any]) -> nx.DiGraph:
    """The components of a bill of materials, and what each depends on.

    Parameters
    ----------
    document : dict
    """
    whole = (document.get("metadata") or {}).get("component")
    components = [] if whole is None else [whole]
    components += _with_inner(document.get("components") or [])
    nodes = []
    for k, component in enumerate(components):
        ref = component.get("bom-ref") or component.get("purl") or f"#{k}"
        nodes.append((ref, _data(component, component.get("name"), OF_COMPONENTS)))
    edges = list[tuple]()
    for dependency in document.get("dependencies") or []:
        for needed in dependency.get("dependsOn") or []:
            edges.append((dependency["ref"], needed, {}, True))
    return build_graph(True, nodes, edges, {})


def _with_inner(components: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Components, and those that they contain."""
    found = []
    for component in components:
        found.append(component)
        found += _with_inner(component.get("components") or [])
    return found


def graph_of_npm(document: dict[str, Any]) -> nx.DiGraph:
    """The packages of a lock file, and what each depends on.

    Parameters
    ----------
    document : dict
    """
    version = document["lockfileVersion"]
    if "packages" not in document:
        raise ValueError(
            f"it has the lockfileVersion {version!r}, and the graph is there from {OLDEST_LOCK} "
            "on: run npm install --package-lock-only with npm 7 or later"
        )
    packages = {path: x for path, x in document["packages"].items() if not x.get("link")}
    nodes = []
    edges = list[tuple]()
    for path, package in packages.items():
        name = package.get("name") or path.rpartition(NESTED)[2] or document.get("name")
        nodes.append((path or ".", _data(package, name, OF_PACKAGES)))
        kinds = ["dependencies", "optionalDependencies"]
        if not path:
            kinds.append("devDependencies")
        for needed in dict.fromkeys(x for kind in kinds for x in package.get(kind) or ()):
            place = _place_of(needed, path, packages)
            if place is not None:  # one that is optional may not be installed
                edges.append((path or ".", place, {}, True))
    return build_graph(True, nodes, edges, {})


def _place_of(name: str, path: str, packages: dict[str, Any]) -> str | None:
    """Where a package finds another: in its own folder, or in that of one around it."""
    while True:
        place = f"{path}/{NESTED}{name}" if path else NESTED + name
        if place in packages:
            return place
        if not path:
            return None
        path = path.rpartition(NESTED)[0].rstrip("/") if NESTED in path else ""


def _data(item: dict[str, Any], name: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """The data of a node: its name as label, and what there is of other names."""
    return {"label": name} | {x: item[x] for x in names if isinstance(item.get(x), str | bool)}
