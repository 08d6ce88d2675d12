"""Tables: columns, rows and notes, written as CSV, Markdown and LaTeX."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Self, SupportsIndex, TypeVar, overload
from unicodedata import combining, east_asian_width

from syntagm.core import UsageError, csv as table, public, shown
from syntagm.evaluation import Estimate, p_value
from syntagm.views.drawing.save import Product, endings
from syntagm.views.drawing.text import or_none

if TYPE_CHECKING:
    import polars as pl

T = TypeVar("T")
Cell = str | int | float | None
# Columns with longer texts than this are broken into lines in LaTeX.
_LONG = 40
# Column -> its head in LaTeX.
_HEADS = {"effect_bits": "effect (bits)"}
# A hyphen that stands for a minus.
_MINUS = re.compile(r"(?<![\w}-])-(?=\.?\d)|(?<= )-(?= )")
_ESCAPED = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}",
    **{sign: "\\" + sign for sign in "&%$#_{}"},
    "−": "$-$", "⟨": r"$\langle$", "⟩": r"$\rangle$",
}  # fmt: skip


@dataclass(frozen=True, slots=True, repr=False)
@public(cure="Use syntagm.table(name, runs).")
class Table(Product):
    """A table with its notes; None stands for an empty cell.

    Arguments:
        published: the columns with numbers quoted from a publication; they are shown with two decimals.
        notes: sentences below the table.
        warnings: sentences above the notes; the command line also prints them to standard error.
        narrow: the columns that LaTeX has by default; all if empty.
        fine: the columns with small numbers, such as gains in nats.
        digits: the number of decimals with which `fine` columns are shown.

    Raises:
        UsageError: a row has more or fewer cells than there are columns.

    >>> table = Table("Accuracy", ("model", "score", "paper"), (("toy_1", 0.5, 0.94),), ("paper",), ("A note.",))
    >>> print(table.markdown())
    ## Accuracy
    <BLANKLINE>
    | model | score | paper |
    |---|---|---|
    | toy_1 | 0.500 | 0.94 |
    <BLANKLINE>
    - A note.
    <BLANKLINE>
    >>> print(table)
    Accuracy
    <BLANKLINE>
    model  score  paper
    toy_1  0.500   0.94
    <BLANKLINE>
    - A note.
    >>> table.csv()
    'model,score,paper\\ntoy_1,0.5,0.94\\n'
    >>> print(table.latex().splitlines()[8])
    toy\\_1 & 0.500 & 0.94 \\\\
    """

    FORMATS: ClassVar[Mapping[str, str]] = {"csv": "csv", "md": "md", "latex": "tex"}
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    published: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    narrow: tuple[str, ...] = ()
    fine: tuple[str, ...] = ()
    digits: int = 6

    def __post_init__(self) -> None:
        for number, row in enumerate(self.rows, 1):
            if len(row) != len(self.columns):
                raise UsageError(f"table {self.title!r}, row {number}", f"{len(row)} cells", f"{len(self.columns)}")

    def to_frame(self) -> "pl.DataFrame":
        """Return the rows as a polars frame, with all digits; an empty cell is null."""
        import polars as pl

        columns = [[row[place] for row in self.rows] for place in range(len(self.columns))]
        return pl.DataFrame(
            [pl.Series(name, cells, strict=False) for name, cells in zip(self.columns, columns, strict=True)]
        )

    def content(self, format: str) -> bytes:
        """Return the content of the file in one of `FORMATS`."""
        endings(self.FORMATS, [format])
        return {"csv": self.csv, "md": self.markdown, "latex": self.latex}[format]().encode()

    def marks(self) -> Mapping[str, re.Pattern[bytes]]:
        """Return, by extension, the pattern of files that may be earlier versions of this product.

        Such a file has the same title, and nothing before or after the table.
        """
        title, label = (re.escape(text.encode()) for text in (shown(self.title), self._label))
        return {
            "md": re.compile(rb"## %b\n\n\| " % title),
            "tex": re.compile(
                rb"\\begin{table}\n\\centering\n\\caption{[^\n]*}\n%b\n(?:(?!\\end{table}).)*\\end{table}\n\Z" % label,
                re.DOTALL,
            ),
        }

    @property
    def _label(self) -> str:
        return rf"\label{{tab:{re.sub(r'[^a-z0-9]+', '-', self.title.lower()).strip('-')}}}"

    def csv(self) -> str:
        """Write the table as CSV with all digits, in the conventions of `syntagm.core.io.csv`."""
        rows = (["" if cell is None else cell for cell in row] for row in self.rows)
        return "".join(table.lines(self.columns, rows))

    def markdown(self) -> str:
        """Write the table and its notes as Markdown: computed numbers have three decimals, published ones two, `fine` ones more.

        Columns named `p` or `p ...` contain p-values; small ones are shown as `<0.001`.
        """
        head = [f"## {shown(self.title)}", "", _line(list(map(shown, self.columns))), "|" + "---|" * len(self.columns)]
        body = map(_line, self._shown())
        return "\n".join([*head, *body, "", *(f"- {shown(note)}" for note in (*self.warnings, *self.notes)), ""])

    def latex(self) -> str:
        """Write the table as a LaTeX `table` environment with booktabs rules, a caption, a label and the notes below.

        The caption is the title, with warnings; the label is `tab:` with the title in lower case and hyphens. Columns of
        long text have a fixed width. The columns `low` and `high` become one, `95% interval`.
        """
        columns = [self.columns.index(name) for name in self.narrow or self.columns]
        ends = [self.columns.index(name) if name in self.columns else -1 for name in ("low", "high")]
        joined = any(pair == tuple(ends) for pair in pairwise(columns))
        shown_rows = self._shown()

        def line(row: Sequence[str], joint: Callable[[str, str], str]) -> str:
            cells = [
                joint(row[place], row[ends[1]]) if joined and place == ends[0] else row[place]
                for place in columns
                if not (joined and place == ends[1])
            ]
            return " & ".join(map(in_latex, cells)) + r" \\"

        heads = [_HEADS.get(name, shown(name)) for name in self.columns]
        layout = "".join(self._alignment(place) for place in columns if not (joined and place == ends[1]))
        caption, notes = (
            " ".join(in_latex(shown(text)).rstrip(".") + "." for text in texts)
            for texts in ((self.title, *self.warnings), self.notes)
        )
        notes = notes.replace("low, high: 95", "95") if joined else notes
        below = [r"\par\smallskip", rf"\begin{{minipage}}{{\linewidth}}\footnotesize {notes}\end{{minipage}}"]
        return "\n".join(
            [
                r"\begin{table}", r"\centering", rf"\caption{{{caption}}}", self._label,
                rf"\begin{{tabular}}{{{layout}}}", r"\toprule", line(heads, lambda low, high: "95% interval"), r"\midrule",
                *(line(row, _interval) for row in shown_rows), r"\bottomrule", r"\end{tabular}", *(below if notes else []),
                r"\end{table}", "",
            ]
        )  # fmt: skip

    def _alignment(self, place: int) -> str:
        """Return the LaTeX column type: right-aligned for numbers, a paragraph for long text, left-aligned for other text."""
        texts = [cell for row in self.rows if isinstance(cell := row[place], str)]
        if not texts:
            return "r"
        return r"p{0.3\linewidth}" if max(map(len, texts)) > _LONG else "l"

    def chosen(self, columns: str) -> Self:
        """Return the table with other columns for LaTeX.

        Arguments:
            columns: names separated by commas, or "all".

        Raises:
            UsageError: a name is not a column.
        """
        names = self.columns if columns == "all" else tuple(name.strip() for name in columns.split(","))
        if unknown := [name for name in names if name not in self.columns]:
            raise UsageError("--columns", repr(unknown[0]), "'all', or one or more of " + ", ".join(self.columns))
        return replace(self, narrow=names)

    def __repr__(self) -> str:
        return shown(f"<Table {self.title!r} of {len(self.rows)} rows: {', '.join(self.columns)}>")

    def __str__(self) -> str:
        head, rows = list(map(shown, self.columns)), self._shown()
        widths = [max(map(_width, column)) for column in zip(head, *rows, strict=True)]
        right = [not any(isinstance(row[place], str) for row in self.rows) for place in range(len(head))]

        def line(cells: Sequence[str]) -> str:
            blanks = [" " * (width - _width(cell)) for cell, width in zip(cells, widths, strict=True)]
            padded = zip(cells, blanks, right, strict=True)
            return "  ".join(blank + cell if number else cell + blank for cell, blank, number in padded).rstrip()

        notes = [f"- {shown(note)}" for note in (*self.warnings, *self.notes)]
        return "\n".join([shown(self.title), "", line(head), *map(line, rows), *([""] if notes else []), *notes])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{_html(column)}</th>" for column in self.columns)
        body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in self._shown())
        notes = "".join(f"<li>{_html(note)}</li>" for note in (*self.warnings, *self.notes))
        table = (
            f"<table><caption>{_html(self.title)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )
        return f"{table}<ul>{notes}</ul>" if notes else table

    def _shown(self) -> list[list[str]]:
        # Names come from materials: what a terminal would obey is replaced. CSV has every character.
        return [
            [shown(self._cell(column, cell)) for column, cell in zip(self.columns, row, strict=True)]
            for row in self.rows
        ]

    def _cell(self, column: str, cell: Cell) -> str:
        match cell:
            case None:
                return ""
            case float():
                return self.shown_number(column, cell)
            case int():
                return f"{cell:,}"
        return cell

    def shown_number(self, column: str, number: float) -> str:
        """Return a number of a column as it is shown."""
        if column.startswith("p ") or column == "p":
            return p_value(number)
        return f"{number:.{self.digits if column in self.fine else 2 if column in self.published else 3}f}"


class Listing(list[T]):
    """A list that is shown as a table, in a notebook and by `print`."""

    def __init__(self, entries: Iterable[T], table: Callable[[Sequence[T]], Table]) -> None:
        super().__init__(entries)
        self._table = table

    @overload
    def __getitem__(self, place: SupportsIndex) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> "Listing[T]": ...
    def __getitem__(self, place: SupportsIndex | slice) -> "T | Listing[T]":
        if isinstance(place, slice):
            return Listing(super().__getitem__(place), self._table)
        return super().__getitem__(place)

    def table(self) -> Table:
        return self._table(self)

    def to_frame(self) -> "pl.DataFrame":
        """Return the entries as a polars frame, with all digits."""
        return self.table().to_frame()

    def __str__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def _html(text: str) -> str:
    return escape(shown(text))


def _width(text: str) -> int:
    """Return how many columns of a terminal a text takes.

    >>> _width("dog"), _width("犬"), _width("e\u0301")
    (3, 2, 1)
    """
    if text.isascii():
        return len(text)
    return sum(0 if combining(sign) else 2 if east_asian_width(sign) in "WF" else 1 for sign in text)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _interval(low: str, high: str) -> str:
    return f"[{low}, {high}]" if low and high else ""


def in_latex(text: str) -> str:
    """Escape text for LaTeX. A minus before a number or between blanks is one, and two hyphens are no dash.

    >>> print(in_latex("B - A"), in_latex("[-0.5, 2]"), in_latex("well-known"), in_latex("--suites"))
    B $-$ A [$-$0.5, 2] well-known -{}-suites
    """
    escaped = "".join(_ESCAPED.get(character, character) for character in text)
    return _MINUS.sub("$-$", escaped.replace("--", "-{}-"))


def cells(estimate: Estimate) -> tuple[Cell, ...]:
    """Return an estimate as cells: value, low, high, n, ties, undefined; nan becomes an empty cell."""
    return tuple(map(or_none, estimate.numbers))


def narrowed(wide: Table, *left_out: str) -> Table:
    """Return a table without these columns in LaTeX, so that it fits on a page."""
    return replace(wide, narrow=tuple(name for name in wide.columns if name not in left_out))
