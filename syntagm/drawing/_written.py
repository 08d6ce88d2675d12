"""The files that this package writes. No table or figure is read again."""

from syntagm.drawing import chart, table
from syntagm.io.integrity import Kind

FILES = (
    *(Kind("a table", f"*.{ending}", checked=False) for ending in table.FORMATS.values()),
    *(Kind("a figure", f"*.{ending}", checked=False) for ending in chart.FORMATS.values()),
)
