"""Export as CSV with one row per region: model,suite,item,condition,region,content,bits."""

from collections.abc import Iterator

from syntagm.runs import REGION_COLUMNS, Run
from syntagm.views.export import Csv, Row


def _rows(run: Run) -> Iterator[Row]:
    if "parquet" not in run.tables:
        run.refuse("regions")
    return (row for suite in run.suites for row in run.regions(suite.name).select(REGION_COLUMNS).iter_rows())


EXPORT = Csv(REGION_COLUMNS, _rows)
