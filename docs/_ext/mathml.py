"""Formulas as MathML, which browsers show without scripts and without network."""

from docutils import nodes
from latex2mathml.converter import convert


def _inline(translator, node):
    translator.body.append(convert(node.astext(), display="inline"))
    raise nodes.SkipNode


def _displayed(translator, node):
    formula = convert(node.astext(), display="block")
    translator.body.append(f'<div class="math-block">{formula}</div>\n')
    raise nodes.SkipNode


def setup(app):
    """Register the renderer that `html_math_renderer` names."""
    app.add_html_math_renderer("mathml", (_inline, None), (_displayed, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
