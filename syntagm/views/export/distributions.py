"""Export as CSV with one row per token: model,suite,item,condition,index,entropy,rank,probability.

The run needs a measure that asks for them, such as `rank(condition=good, region=verb)`. With the measure
`entropy_reduction(condition=good, region=verb)`, there is one more column: entropy_reduction.
"""

from collections.abc import Iterator

from syntagm.runs import DISTRIBUTION_COLUMNS, Run
from syntagm.views.export import Csv, Row


def _rows(run: Run) -> Iterator[Row]:
    run.refuse_unreduced()
    return (row for suite in run.suites for row in run.distributions(suite.name).iter_rows())


EXPORT = Csv(DISTRIBUTION_COLUMNS, _rows, further=(("entropy_reduction",), lambda run: run.reduces_entropy))
