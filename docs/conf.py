"""How the site is built: make docs. Nothing is fetched, and every warning is an error."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import twinviews

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))

project = "twinviews"
author = "The twinviews developers"
copyright = author  # Sphinx's name for it
release = version = twinviews.__version__

extensions = [
    "mathml",
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "auto_examples/*.ipynb", "auto_examples/*.py"]

templates_path = ["_templates"]
html_theme = "furo"
html_title = "twinviews"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0072B2", "color-brand-content": "#0072B2"},
    "dark_css_variables": {"color-brand-primary": "#56B4E9", "color-brand-content": "#56B4E9"},
}

# Dollars are formulas on GitHub too, so pages read well in both places.
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_default_options = {"members": True, "inherited-members": True, "member-order": "bysource"}
autodoc_typehints = "none"  # docstrings say it in words
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

copybutton_prompt_text = ">>> |\\.\\.\\. "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "auto_examples",
    "ignore_pattern": r"few_labels\.py",  # make demo
    "within_subsection_order": "FileNameSortKey",
    "show_signature": False,
    "show_memory": False,
    "write_computation_times": False,  # its page would fetch scripts
    "download_all_examples": False,
    "abort_on_example_error": True,
    "remove_config_comments": True,
}


def skip_what_scikit_learn_brings(
    app: Any, what: str, name: str, member: Any, skip: bool, options: Any
) -> bool | None:
    """Its own pages describe get_params, set_output and the like."""
    module = getattr(member, "__module__", None) or ""
    if name.endswith("_request") or module.startswith("sklearn."):
        return True
    return None


def escape_learned_names_in_types(
    app: Any, what: str, name: str, member: Any, options: Any, lines: list[str]
) -> None:
    """In a type such as (n_features_in_,) an underscore at the end would be a link."""
    for place, line in enumerate(lines):
        names, colon, kind = line.partition(" : ")
        if colon:
            lines[place] = names + colon + re.sub(r"(\w)_(?!\w)", r"\1\\_", kind)


def drop_the_last_blank_line_of_examples(app: Any, docname: str, source: list[str]) -> None:
    """Doctest needs it to tell output from the fence, a reader does not."""
    source[0] = re.sub(r"(?ms)^(```python\n.*?)\n\n```$", r"\1\n```", source[0])


def setup(app: Any) -> None:
    app.connect("source-read", drop_the_last_blank_line_of_examples)
    app.connect("autodoc-skip-member", skip_what_scikit_learn_brings)
    app.connect("autodoc-process-docstring", escape_learned_names_in_types, priority=400)
