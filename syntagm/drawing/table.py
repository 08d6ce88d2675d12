"""A table for a paper: columns, rows and notes, as CSV, Markdown and LaTeX."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, ClassVar

from syntagm.drawing.save import Product
from syntagm.drawing.text import or_none
from syntagm.io import csv as table
from syntagm.result import Estimate

if TYPE_CHECKING:
    import polars as pl

Cell = str | int | float | None
FORMATS = {"csv": "csv", "md": "md", "latex": "tex"}
_ESCAPED = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}",
    **{sign: "\\" + sign for sign in "&%$#_{}"},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Table(Product):
    """Columns, rows and what a reader must know to read them; None is an empty cell.

    Arguments:
        published: the columns whose numbers are quoted, not computed.
        notes: sentences under the table.
        warnings: sentences that stand before the notes, and that the command line says aloud.

    >>> made = Table("Accuracy", ("model", "score", "paper"), (("toy_1", 0.5, 0.94),), ("paper",), ("A note.",))
    >>> print(made.markdown())
    ## Accuracy
    <BLANKLINE>
    | model | score | paper |
    |---|---|---|
    | toy_1 | 0.500 | 0.94 |
    <BLANKLINE>
    - A note.
    <BLANKLINE>
    >>> made.csv()
    'model,score,paper\\ntoy_1,0.5,0.94\\n'
    >>> print(made.latex().splitlines()[6])
    toy\\_1 & 0.500 & 0.94 \\\\
    """

    FORMATS: ClassVar[Mapping[str, str]] = FORMATS
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    published: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def to_frame(self) -> "pl.DataFrame":
        """Return the rows as a polars frame, with all digits; an empty cell is null."""
        import polars as pl

        columns = [[row[place] for row in self.rows] for place in range(len(self.columns))]
        return pl.DataFrame(
            [pl.Series(name, cells, strict=False) for name, cells in zip(self.columns, columns, strict=True)]
        )

    def content(self, format: str) -> bytes:
        """Return the content of a file in one of `FORMATS`."""
        return {"csv": self.csv, "md": self.markdown, "latex": self.latex}[format]().encode()

    def csv(self) -> str:
        """The table by the contract of `syntagm.io.csv`, all digits."""
        rows = (["" if cell is None else cell for cell in row] for row in self.rows)
        return "".join(table.lines(self.columns, rows))

    def markdown(self) -> str:
        """The table and its notes; three digits, and two of published numbers; a p is `p` or begins with `p `."""
        head = [f"## {self.title}", "", _line(self.columns), "|" + "---|" * len(self.columns)]
        body = [_line([cell.replace("|", "\\|") for cell in row]) for row in self._shown()]
        return "\n".join([*head, *body, "", *(f"- {note}" for note in (*self.warnings, *self.notes)), ""])

    def latex(self) -> str:
        """The table as a `table` environment in the manner of the package booktabs; the notes stand in the caption."""
        numeric = [all(not isinstance(row[index], str) for row in self.rows) for index in range(len(self.columns))]
        columns = "".join("r" if one else "l" for one in numeric)
        caption = " ".join(_tex(text).rstrip(".") + "." for text in (self.title, *self.warnings, *self.notes))
        body = [" & ".join(map(_tex, row)) + r" \\" for row in self._shown()]
        head = " & ".join(map(_tex, self.columns)) + r" \\"
        lines = [
            r"\begin{table}", r"\centering", rf"\begin{{tabular}}{{{columns}}}", r"\toprule", head, r"\midrule",
            *body, r"\bottomrule", r"\end{tabular}", rf"\caption{{{caption}}}", r"\end{table}",
        ]  # fmt: skip
        return "\n".join(lines) + "\n"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(column)}</th>" for column in self.columns)
        body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in self._shown())
        notes = "".join(f"<li>{escape(note)}</li>" for note in (*self.warnings, *self.notes))
        table = (
            f"<table><caption>{escape(self.title)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )
        return f"{table}<ul>{notes}</ul>" if notes else table

    def _shown(self) -> list[list[str]]:
        return [[self._cell(column, cell) for column, cell in zip(self.columns, row, strict=True)] for row in self.rows]

    def _cell(self, column: str, cell: Cell) -> str:
        match cell:
            case None:
                return ""
            case float() if column.startswith("p ") or column == "p":
                return "<0.001" if cell < 0.001 else f"{cell:.3f}"
            case float():
                return f"{cell:.2f}" if column in self.published else f"{cell:.3f}"
            case int():
                return f"{cell:,}"
        return cell


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _tex(text: str) -> str:
    return "".join(_ESCAPED.get(character, character) for character in text)


def cells(one: Estimate) -> tuple[Cell, ...]:
    """Return an estimate as cells: value, low, high, n, ties, undefined; what is not known is empty."""
    return or_none(one.value), or_none(one.low), or_none(one.high), one.n, one.ties, one.undefined
