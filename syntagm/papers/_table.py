"""A table of a paper, as CSV and as Markdown."""

from collections.abc import Sequence
from dataclasses import dataclass

from syntagm import table

Cell = str | int | float | None


@dataclass(frozen=True, slots=True)
class PaperTable:
    """Columns, rows and what a reader must know to read them; None is an empty cell.

    Arguments:
        published: the columns whose numbers are quoted, not computed.
        notes: sentences under the table.

    >>> made = PaperTable("Accuracy", ("model", "score", "paper"), (("toy", 0.5, 0.94),), ("paper",), ("A note.",))
    >>> print(made.markdown())
    ## Accuracy
    <BLANKLINE>
    | model | score | paper |
    |---|---|---|
    | toy | 0.500 | 0.94 |
    <BLANKLINE>
    - A note.
    <BLANKLINE>
    >>> made.csv()
    'model,score,paper\\ntoy,0.5,0.94\\n'
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    published: tuple[str, ...]
    notes: tuple[str, ...]

    def csv(self) -> str:
        """The table by the contract of `syntagm.table`, all digits."""
        rows = (["" if cell is None else cell for cell in row] for row in self.rows)
        return "".join(table.lines(self.columns, rows))

    def markdown(self) -> str:
        """The table and its notes; three digits, and two of published numbers."""
        head = [f"## {self.title}", "", _line(self.columns), "|" + "---|" * len(self.columns)]
        body = [
            _line([self._shown(column, cell) for column, cell in zip(self.columns, row, strict=True)])
            for row in self.rows
        ]
        return "\n".join([*head, *body, "", *(f"- {note}" for note in self.notes), ""])

    def _shown(self, column: str, cell: Cell) -> str:
        match cell:
            case None:
                return ""
            case float():
                return f"{cell:.2f}" if column in self.published else f"{cell:.3f}"
            case int():
                return f"{cell:,}"
        return cell.replace("|", "\\|")


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
