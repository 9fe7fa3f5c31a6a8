"""Formulas as MathML, made at build time: browsers set it themselves, with no script and no network."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)


def _mathml(node: nodes.Element, display: str) -> str:
    """A command that the converter does not know stays as it is, which is no formula."""
    made = convert(node.astext(), display=display)
    if "\\" in made:
        logger.warning("formula that cannot be set: %s", node.astext(), location=node)
    return made


def _inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(_mathml(node, "inline"))
    raise nodes.SkipNode


def _block(translator: Any, node: nodes.math_block) -> None:
    translator.body.append(f'<div class="formula">{_mathml(node, "block")}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
