"""Text for the terminal: names from materials and models, with nothing in it that a terminal would obey."""

from rich.text import Text

from syntagm.drawing.text import shown_lines


def plain(content: str, style: str = "") -> Text:
    """Return a text to print, without markup and without control characters but line breaks."""
    return Text(shown_lines(content), style=style)
