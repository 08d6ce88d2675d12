"""The files that this package writes. No table or figure is read again."""

from syntagm.drawing import chart, table
from syntagm.io.integrity import File

FILES = (
    *(File("a table", f"*.{ending}", checked=False) for ending in table.FORMATS.values()),
    *(File("a figure", f"*.{ending}", checked=False) for ending in chart.FORMATS.values()),
)
