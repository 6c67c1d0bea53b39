"""Sphinx: the pages of this folder, the docstrings and the examples -> docs/_build/html.

Nothing is downloaded, neither when the pages are built nor when they are read.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math import latex2mathml
from sphinx_gallery.sorting import ExplicitOrder

import skgraphkde

DOCS = Path(__file__).parent
ROOT = DOCS.parent

project = "skgraphkde"
author = "the skgraphkde developers"
copyright = author
release = skgraphkde.__version__
version = release

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "myst_parser",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
# benchmarks/index.md includes benchmarks/README.md and adds the table of contents.
exclude_patterns = ["_build", "benchmarks/README.md", "**.ipynb", "auto_examples/*.py"]
templates_path = ["_templates"]
default_role = "literal"
smartquotes = False
myst_heading_anchors = 3  # links to headings, as GitHub has them
suppress_warnings = ["myst.header"]  # pages of tables go from # to ###

# -- API -------------------------------------------------------------------------------------------

autosummary_generate = True
autodoc_typehints = "none"  # docstrings give types with shapes and ranges
numpydoc_show_class_members = False  # the templates list them
maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"

# -- gallery ---------------------------------------------------------------------------------------

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "within_subsection_order": ExplicitOrder(
        [
            "plot_lgkde.py",
            "plot_graphml.py",
            "plot_mutag.py",
            "plot_reasons.py",
            "plot_p_values.py",
            "plot_custom_features.py",
            "plot_bonds.py",
            "plot_connectomes.py",
            "plot_map.py",
            "plot_pipeline.py",
            "plot_grid_search.py",
            "*",
        ]
    ),
    "backreferences_dir": "generated/backreferences",
    "doc_module": ("skgraphkde",),
    "remove_config_comments": True,
    "show_memory": False,
    "thumbnail_size": (480, 320),
    "write_computation_times": False,  # that page would download scripts
    "plot_gallery": "True",
    "abort_on_example_error": True,
}

# -- HTML ------------------------------------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
html_title = "skgraphkde"
html_static_path = ["_static"]
html_css_files = ["style.css"]
html_copy_source = False
html_show_sourcelink = False
html_math_renderer = "mathml"
html_theme_options = {
    "show_prev_next": False,
    "navigation_with_keys": False,
    "show_nav_level": 1,
    "secondary_sidebar_items": {"[!b]**": ["page-toc"], "benchmarks/*": []},  # room for tables
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {
    "index": [],
    "contributing": [],
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


# -- formulas, without scripts ---------------------------------------------------------------------


def _write_inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(latex2mathml.tex2mathml(node.astext()))
    raise nodes.SkipNode


def _write_block(writer: Any, node: nodes.math_block) -> None:
    formula = latex2mathml.tex2mathml(node.astext(), as_block=True)
    writer.body.append(f'<div class="math-block">{formula}</div>')
    raise nodes.SkipNode


# -- files of the repository as pages --------------------------------------------------------------

INCLUDE = re.compile(r"```\{include\} (\S+)\n```")
LINK = re.compile(r"\[([^\]]*)\]\((?!http|#)([^)#]+)\)")
# Included file -> the page that includes it.
PAGES = {
    (page.parent / found[1]).resolve(): page
    for page in DOCS.rglob("*.md")
    if (found := INCLUDE.search(page.read_text(encoding="utf-8")))
}


def read_page(app: Any, docname: str, source: list[str]) -> None:
    """Insert included files, and turn links into links between pages or into plain text."""
    page = DOCS / f"{docname}.md"
    if not page.exists():
        return

    def included(match: re.Match) -> str:
        path = (page.parent / match[1]).resolve()
        app.env.note_dependency(str(path), docname=docname)
        return LINK.sub(lambda link: _link(link, path, page), path.read_text(encoding="utf-8"))

    text = LINK.sub(lambda link: _link(link, page, page), source[0])
    source[0] = INCLUDE.sub(included, text)


def _link(match: re.Match, path: Path, page: Path) -> str:
    """A Markdown link in the file `path`, as it must be written on `page`."""
    target = (path.parent / match[2]).resolve()
    target = PAGES.get(target, target)
    if target.is_dir() or not target.is_relative_to(DOCS):
        return match[1]
    return f"[{match[1]}]({os.path.relpath(target, page.parent)})"


# Methods that detectors inherit from scikit-learn, whose docstrings link to its own pages.
INHERITED = re.compile("set_.*_request|get_metadata_routing|set_output|fit_transform")


def skip(app: Any, what: str, name: str, *_: Any) -> bool | None:
    """Leave out what scikit-learn adds and documents."""
    return True if INHERITED.fullmatch(name) else None


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_html_math_renderer("mathml", (_write_inline, None), (_write_block, None))
    app.connect("source-read", read_page)
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
