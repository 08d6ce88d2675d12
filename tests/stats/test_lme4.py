"""Linear mixed models with crossed slopes beside lme4 itself, where R has it; `benchmarks/mixed_lme4.py` has 80,000 rows."""

import pytest

from benchmarks import mixed_lme4
from syntagm.stats import linear


@pytest.mark.slow
def test_the_log_likelihood_and_the_estimates_are_those_of_lme4() -> None:
    table = mixed_lme4.simulated(4000)
    theirs = mixed_lme4.by_lme4(table)
    if theirs is None:
        pytest.skip("no Rscript with lme4")
    ours = linear.fit(mixed_lme4.FORMULA, table, starts=1)
    assert ours.loglik == pytest.approx(theirs["loglik"], abs=1e-5)
    assert [each.estimate for each in ours.coefficients] == pytest.approx(theirs["coefficients"], rel=1e-4)
