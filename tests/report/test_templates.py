"""Templates arrange what Python decides: a template with a comparison, a sum or a condition of its own is refused."""

from pathlib import Path

import pytest
from jinja2 import Environment, nodes

from syntagm.report import shell

PACKAGE = Path(shell.__file__).parents[1]
TEMPLATES = sorted([*(PACKAGE / "report").rglob("*.html"), *(PACKAGE / "studio").rglob("*.html")])
# `and` and `or` are of the kind BinExpr, too.
DECISIONS = (nodes.Compare, nodes.CondExpr, nodes.BinExpr, nodes.Concat, nodes.Test, nodes.Assign, nodes.Macro)


def decisions(source: str) -> list[str]:
    """The kinds of expressions in a template by which it would decide something, with their lines."""
    tree = Environment(trim_blocks=True).parse(source)
    found = [f"line {node.lineno}: {type(node).__name__}" for node in tree.find_all(DECISIONS)]
    return found + [f"line {loop.lineno}: for ... if" for loop in tree.find_all(nodes.For) if loop.test]


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_template_decides_nothing_and_has_short_lines(path: Path) -> None:
    source = path.read_text("utf-8")
    assert decisions(source) == []
    assert [line for line in source.splitlines() if len(line) > 130] == []


@pytest.mark.parametrize(
    "source",
    [
        "{{ x if y }}", "{% if x == x %}a{% endif %}", "{{ x + 1 }}", "{% set x = 1 %}", "{% for x in y if x %}{% endfor %}",
        "{% macro m() %}{% endmacro %}", "{% if a and b %}c{% endif %}", "{% if x is none %}y{% endif %}", "{{ a ~ b }}",
    ],
)  # fmt: skip
def test_decisions_are_found(source: str) -> None:
    assert decisions(source)


def test_an_indented_line_continues_the_line_above_it(tmp_path: Path) -> None:
    (tmp_path / "part.html").write_text(
        "<p>One\n  {% if x %}two\n    three{% endif %}.</p>\n{% if x %}\nfour\n{% endif %}\n"
    )
    assert shell.render_part("part.html", {"x": True}, tmp_path) == "<p>One two three.</p>\nfour\n"
