"""Shares of variance: by hand, by a mixed model, and what can't be split."""

import numpy as np
import polars as pl
import pytest

from syntagm.core import InputError
from syntagm.stats import bootstrap, linear, variance_shares


def test_one_group_of_equal_size_is_computed_by_hand() -> None:
    values = [1.0, 2, 5, 6, 9, 10, 1, 3]
    model, rest = variance_shares.split(values, {"model": list("aabbccdd")}).shares()
    # Mean squares: 82.375 / 3 between models, 3.5 / 4 within.
    between, within = (82.375 / 3 - 3.5 / 4) / 2, 3.5 / 4
    assert (model.sd, rest.sd) == pytest.approx((between**0.5, within**0.5))
    assert (model.share, model.remark, rest.remark) == (
        pytest.approx(between / (between + within)),
        "only 4 levels",
        "only 4 of model",
    )
    # The exact interval of the share inverts F = 31.38 with 3 and 4 degrees of freedom, whose quantiles are .0662 and 9.979.
    ratio = 82.375 / 3 / (3.5 / 4)
    low, high = ((ratio / quantile - 1) / (ratio / quantile + 1) for quantile in (9.979, 0.0662))
    assert (model.low, model.high) == pytest.approx((low, high), abs=0.01)


def crossed() -> tuple[list[float], dict[str, list[int]]]:
    """Eight runs of four classes on twelve suites."""
    draw = np.random.default_rng(3)
    run, suite = np.divmod(np.arange(96), 12)
    effects = [draw.normal(0, sd, count) for sd, count in ((1, 4), (0.5, 8), (2, 12))]
    values = effects[0][run // 2] + effects[1][run] + effects[2][suite] + draw.normal(0, 0.7, 96)
    return values.tolist(), {"class": (run // 2).tolist(), "run": run.tolist(), "suite": suite.tolist()}


def test_crossed_and_nested_groups_have_the_variances_of_restricted_likelihood() -> None:
    """Both methods agree in designs of equal cells, if no variance is 0."""
    values, groups = crossed()
    found = {share.name: share for share in variance_shares.split(values, groups).shares()}
    names = {name: pl.Series(levels).cast(pl.String) for name, levels in groups.items()}
    table = pl.DataFrame({"value": values, **names}).rename({"class": "kind"})
    fit = linear.fit("value ~ 1 + (1 | kind) + (1 | run) + (1 | suite)", table, reml=True)
    expected = {group.name.replace("kind", "class"): group.sd[0] for group in fit.groups} | {"residual": fit.sigma}
    assert {name: share.sd for name, share in found.items()} == pytest.approx(expected, rel=1e-3)
    assert sum(share.share for share in found.values()) == pytest.approx(1)
    assert all(share.low < share.share < share.high for share in found.values())


def test_the_variance_of_items_comes_out_of_the_residual() -> None:
    values, groups = crossed()
    plain = variance_shares.split(values, groups)
    apart = variance_shares.split(values, groups, [0.1, 0.3] * 48)
    assert apart.names == ("class", "run", "suite", "items", "residual")
    assert apart.variances[:3] == pytest.approx(plain.variances[:3])
    assert apart.variances[3:] == pytest.approx([0.2, plain.variances[3] - 0.2])
    # More than there is: nothing is left.
    assert variance_shares.split(values, groups, [9.0] * 96).variances[-1] == 0


def test_a_difference_of_shares_has_an_interval_and_follows_the_seed() -> None:
    values, groups = crossed()
    found = variance_shares.split(values, groups)
    shares = {share.name: share.share for share in found.shares()}
    value, low, high = found.difference("suite", "run")
    assert value == pytest.approx(shares["suite"] - shares["run"])
    assert low < value < high
    assert found.difference("run", "suite") == pytest.approx((-value, -high, -low))
    with bootstrap.using(bootstrap.Resampling(seed=2)):
        assert variance_shares.split(values, groups).difference("suite", "run")[1:] != (low, high)


@pytest.mark.parametrize(
    ("values", "groups", "found"),
    [
        ([1, 2, 3], {"class": "aaa"}, "class: one level"),
        ([1, 2, 3, 4], {"run": "aabb", "class": "ccdd"}, "class: the same rows as in groups before it"),
        ([1, 2, 3], {"run": "abc"}, "run: 3 responses; expected more"),
        ([2, 2, 2, 2], {"run": "aabb"}, "responses: no variance"),
    ],
)
def test_what_can_not_be_split_is_refused(values: list[float], groups: dict[str, str], found: str) -> None:
    with pytest.raises(InputError, match=found):
        variance_shares.split(values, groups)
