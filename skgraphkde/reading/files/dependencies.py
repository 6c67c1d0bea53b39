"""What software is made of: CycloneDX and the lock files of npm, both JSON -> networkx graphs.

A node is a component, called by its name, which is its "label"; an edge leads from each to those
that it needs. What all is of is called alike in all files.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx

from skgraphkde.reading.files.common import build_graph

ROOT = "the project"  # not its name, which no other graph has
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
    """The components and services of a bill of materials, and what each depends on.

    Parameters
    ----------
    document : dict
    """
    whole = (document.get("metadata") or {}).get("component")
    nodes: dict[str, dict[str, Any]] = {}
    if whole is not None:
        nodes[_ref(whole, 0)] = _data(whole, ROOT, OF_COMPONENTS)
    others = [*_with_inner((whole or {}).get("components"))]
    others += _with_inner(document.get("components"))
    others += _with_inner(document.get("services"), "services")
    for k, component in enumerate(others, 1):
        data = _data(component, component.get("name"), OF_COMPONENTS)
        licenses = [_license(x) for x in component.get("licenses") or []]
        if licenses:
            data["license"] = " OR ".join(licenses)
        nodes.setdefault(_ref(component, k), data)
    edges = list[tuple]()
    for dependency in document.get("dependencies") or []:
        for needed in dict.fromkeys(dependency.get("dependsOn") or []):
            edges.append((dependency["ref"], needed, {}, True))
    return build_graph(True, nodes.items(), edges, {})


def _ref(component: dict[str, Any], k: int) -> str:
    """What a component is called where others need it."""
    return component.get("bom-ref") or component.get("purl") or f"#{k}"


def _license(choice: dict[str, Any]) -> str:
    """A license of CycloneDX: an expression, or one with an id or a name."""
    own = choice.get("license") or {}
    return str(choice.get("expression") or own.get("id") or own.get("name") or "")


def _with_inner(components: Any, name: str = "components") -> Iterator[dict[str, Any]]:
    """Components, or services, and those that they contain."""
    for component in components or []:
        yield component
        yield from _with_inner(component.get(name), name)


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
    packages = document["packages"]
    nodes = []
    edges = list[tuple]()
    for path, package in packages.items():
        if package.get("link"):  # to a package that is listed at its own place
            continue
        name = package.get("name") or path.rpartition(NESTED)[2].rpartition("packages/")[2]
        is_own = NESTED not in f"/{path}"
        nodes.append((path or ".", _data(package, name if path else ROOT, OF_PACKAGES)))
        kinds = ["dependencies", "optionalDependencies", "peerDependencies"]
        if is_own:
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
            link = packages[place].get("link")
            return packages[place].get("resolved") if link else place
        if not path:
            return None
        path = path.rpartition(NESTED)[0].rstrip("/") if NESTED in path else ""


def _data(item: dict[str, Any], name: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """The data of a node: its name as label, and what there is of other names."""
    return {"label": name} | {x: item[x] for x in names if isinstance(item.get(x), str | bool)}
