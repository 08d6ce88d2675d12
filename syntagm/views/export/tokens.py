"""Export as CSV with one row per token: model,suite,item,condition,index,start,token,bits,known.

The model `recorded:FILE` reads the file back.
"""

from collections.abc import Iterator

from syntagm.runs import TOKEN_COLUMNS, Run
from syntagm.views.export import Csv, Row


def _rows(run: Run) -> Iterator[Row]:
    if "parquet" not in run.tables:
        run.refuse("tokens")
    return (row for suite in run.suites for row in run.tokens(suite.name).select(TOKEN_COLUMNS).iter_rows())


EXPORT = Csv(TOKEN_COLUMNS, _rows)
