"""Text for the terminal: names from materials and models, without anything that a terminal would execute."""

from rich.text import Text

from syntagm.drawing.text import shown_lines


def plain(content: str, style: str = "") -> Text:
    """Return a text to print, without markup and without control characters other than line breaks."""
    return Text(shown_lines(content), style=style)
