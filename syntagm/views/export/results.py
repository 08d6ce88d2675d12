"""Export as CSV with one row per item and measure: model,suite,item,measure,value,margin."""

from collections.abc import Iterator

from syntagm.runs import RESULT_COLUMNS, Run
from syntagm.views.export import Csv, Row


def _rows(run: Run) -> Iterator[Row]:
    return (row for suite in run.suites for row in run.results(suite.name).select(RESULT_COLUMNS).iter_rows())


EXPORT = Csv(RESULT_COLUMNS, _rows, judged=True)
