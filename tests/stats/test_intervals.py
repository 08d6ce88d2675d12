"""Intervals and tests of means: published values, closed forms, and that interval and test never contradict."""

from math import inf, isnan, sqrt

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from syntagm.core import UsageError
from syntagm.evaluation import Kind
from syntagm.stats import (
    Resampling,
    bootstrap,
    cluster_intervals,
    interval,
    mcnemar,
    model_classes,
    paired_intervals,
    suite_intervals,
    using,
)

FIXED = Resampling(suites="fixed")


@settings(max_examples=50)
@given(st.integers(2, 400), st.data())
def test_an_accuracy_has_wilsons_interval(n: int, data: st.DataObject) -> None:
    right = data.draw(st.integers(0, n))
    found = interval.of_items(np.repeat([1.0, 0.0], [right, n - right]), Kind.VERDICT)
    expected = stats.binomtest(right, n).proportion_ci(method="wilson")
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert 0 <= found.low <= right / n <= found.high <= 1


def test_none_of_28_is_not_certain() -> None:
    # z**2 / (n + z**2) = 3.841 / 31.841.
    found = interval.of_items(np.zeros(28), Kind.VERDICT)
    assert (found.low, found.high) == (0.0, pytest.approx(0.1206, abs=1e-4))


def test_numbers_have_students_interval() -> None:
    values = [2.5, 3.0, 7.0, 1.0, 4.5]
    expected = stats.ttest_1samp(values, 0)
    found = interval.of_numbers(values)
    assert (found.low, found.high) == pytest.approx(tuple(expected.confidence_interval()))
    assert found.p == pytest.approx(expected.pvalue)
    assert found.method == "t(4); random: items; only 5 items"


def test_skewed_numbers_have_halls_interval_too() -> None:
    values = np.array([0.0, 0.1, 0.2, 0.3, 0.3, 0.5, 0.8, 1.1, 2.5, 7.0])
    student = stats.ttest_1samp(values, 0).confidence_interval()
    found = interval.of_numbers(values)
    # Without the 7, the mean of the others is above 0.
    [remark] = found.remarks
    assert found.method == f"t(9) and Hall; random: items; {remark}"
    others = stats.ttest_1samp(values[:-1], 0)
    assert remark.startswith(
        f"without one of 10 items: {values[:-1].mean():.3f} [{others.confidence_interval().low:.3f}, "
    )
    assert remark.endswith(f"p = {others.pvalue:.2g}")
    assert found.low == pytest.approx(student.low)
    # The upper end is the mean whose transformed statistic (Hall 1992) is -t(.975, 9).
    size, skewness = values.std(ddof=1), stats.skew(values)

    def transformed(mean: float) -> float:
        s = (values.mean() - mean) / size
        return float(sqrt(10) * (s + skewness * s**2 / 3 + skewness**2 * s**3 / 27 + skewness / 60))

    # Of ten numbers, the skewness of the sample is multiplied by 1 + 5 / 10.
    skewness = 1.5 * skewness

    assert transformed(found.high) == pytest.approx(-stats.t.ppf(0.975, 9))
    assert found.high > student.high + 0.5
    # The p-value is .05 for each end of the interval.
    assert [interval.of_numbers(values - end).p for end in (found.low, found.high)] == pytest.approx([0.05, 0.05])
    assert interval.of_numbers([-1.0, 1.0] * 5 + [0.0]).low == pytest.approx(
        stats.ttest_1samp([-1.0, 1.0] * 5 + [0.0], 0).confidence_interval().low
    )


def test_the_kind_of_values_decides_their_interval_and_not_what_they_happen_to_be() -> None:
    assert interval.of_items([0.1, 0.2, 0.9, 0.4], Kind.SHARE).method.startswith("Wilson with t(3)")
    assert interval.of_items([0.1, 0.2, 0.9, 0.4], Kind.BITS).method.startswith("t(3)")
    assert interval.of_items([0.0, 1.0, 1.0, 1.0], Kind.VERDICT).method == "Wilson; random: items; only 4 items"
    assert interval.of_items([0.0, 1.0, 1.0, 1.0], Kind.SHARE).method.startswith("Wilson with t(3)")
    suites = {"a": [0.1, 0.2], "b": [0.3, 0.9], "c": [0.5, 0.4]}
    assert suite_intervals.over_suites(suites, Kind.SHARE).method.startswith("Wilson with t(2)")
    assert suite_intervals.over_suites(suites, Kind.MS).method.startswith("t(2)")
    rows = list(suites["a"]) + list(suites["b"])
    assert cluster_intervals.of_clusters(rows, Kind.SHARE, {"words": list("aabb")}).method.startswith(
        "Wilson with t(1)"
    )
    assert cluster_intervals.of_clusters(rows, Kind.RANK, {"words": list("aabb")}).method.startswith("t(1)")


def test_clusters_of_unequal_size_count_as_fewer() -> None:
    # 6**2 / (9 + 4 + 1) = 18 / 7 clusters of equal size.
    found = cluster_intervals.spread_of_clusters(np.array([0.1, 0, -0.1, 0.1, -0.1, 0.0]), {"words": list("aaabbc")})
    assert found is not None
    assert found.freedom == pytest.approx(18 / 7 - 1)


@pytest.mark.parametrize("values", [[], [1.0], [1.0, inf], [-inf, inf, 2.0]])
def test_fewer_than_two_items_or_infinite_numbers_have_no_interval(values: list[float]) -> None:
    found = interval.of_items(values, Kind.BITS)
    assert isnan(found.low)
    assert isnan(found.high)
    assert found.method.startswith("no interval")


def test_shares_have_a_score_interval_of_their_own_variance() -> None:
    # A mean of 1/2 with the variance (1/8)**2 / 3 is that of 48 independent verdicts.
    found = interval.of_items([0.375, 0.5, 0.625], Kind.SHARE)
    independent = 0.25 / (0.125**2 / 3)
    z = stats.t.ppf(0.975, 2)
    expected = z / (1 + z * z / independent) * sqrt(0.25 / independent + (z / independent) ** 2 / 4)
    assert found.high - 0.5 == pytest.approx(expected)


# Fagerland, Lydersen & Laake 2014, Table 6: airway hyper-responsiveness before and after transplantation, 21 children.
def test_tangos_interval_of_a_published_table() -> None:
    assert [round(end, 3) for end in paired_intervals.tango(1, 7, 21)] == [-0.517, -0.026]
    assert mcnemar(7, 1, 21) == pytest.approx(0.0339, abs=1e-4)


@pytest.mark.slow
@settings(max_examples=200)
@given(st.integers(2, 120), st.data())
def test_on_a_suite_interval_and_test_agree(n: int, data: st.DataObject) -> None:
    only_b = data.draw(st.integers(0, n))
    only_a = data.draw(st.integers(0, n - only_b))
    low, high = paired_intervals.tango(only_b, only_a, n)
    values = np.repeat([1.0, -1.0, 0.0], [only_b, only_a, n - only_a - only_b])
    found = paired_intervals.of_difference(values, Kind.VERDICT)
    assert (found.low > 0 or found.high < 0) == (found.p <= 0.05)
    assert found.low <= low
    assert found.high >= high
    assert -1 <= low <= (only_b - only_a) / n <= high <= 1
    assert (low, high) == pytest.approx(tuple(-end for end in reversed(paired_intervals.tango(only_a, only_b, n))))


def test_without_discordant_items_the_difference_is_still_uncertain() -> None:
    found = paired_intervals.of_difference(np.zeros(28), Kind.VERDICT)
    # As for a proportion of 0 of 28: 3.841 / 31.841.
    assert (found.low, found.high) == pytest.approx((-0.1206, 0.1206), abs=1e-4)
    assert found.p == 1.0


@pytest.mark.slow
@settings(max_examples=100)
@given(st.lists(st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=2, max_size=8), min_size=2, max_size=8))
def test_over_suites_interval_and_test_agree(suites: list[list[float]]) -> None:
    for resampling in (Resampling(), FIXED):
        with using(resampling):
            found = suite_intervals.over_suites(
                {str(k): items for k, items in enumerate(suites)}, Kind.VERDICT, difference=True
            )
        if not isnan(found.low):
            assert (found.low > 0 or found.high < 0) == (found.p < 0.05)


def test_random_suites_have_the_spread_of_their_accuracies() -> None:
    values = {"a": [1, 1, 1, 0], "b": [0, 0, 0, 1], "c": [1, 0, 1, 0], "d": [1, 1, 1, 1], "e": [0, 0, 0, 0]}
    accuracies = [0.75, 0.25, 0.5, 1, 0]
    spread = suite_intervals.spread_over_suites([np.array(items, float) for items in values.values()])
    assert spread.variance == pytest.approx(np.var(accuracies, ddof=1) / 5)
    differences = {name: np.array(items) - 0.5 for name, items in values.items()}
    found = suite_intervals.over_suites(differences, Kind.NUMBER, difference=True)
    expected = stats.ttest_1samp(np.array(accuracies) - 0.5, 0)
    assert (found.low, found.high) == pytest.approx(tuple(expected.confidence_interval()))
    assert found.method == "t(4); random: suites, items; only 5 suites"


def test_fixed_suites_have_the_spread_of_their_items() -> None:
    values = {"a": [1.0] * 30 + [0.0] * 10, "b": [1.0] * 5 + [0.0] * 15}
    with using(FIXED):
        found = suite_intervals.over_suites(values, Kind.VERDICT)
        spread = suite_intervals.spread_over_suites([np.array(items) for items in values.values()])
    # Unbiased: p (1 - p) / (n - 1) of each, over 2**2.
    assert spread.variance == pytest.approx((0.75 * 0.25 / 39 + 0.25 * 0.75 / 19) / 4)
    assert found.method == "stratified score; random: items; fixed: suites"
    assert found.low < 0.5 < found.high


def test_suites_that_agree_by_chance_are_no_more_certain_than_their_items() -> None:
    values = {"a": [1.0, 0.0] * 10, "b": [0.0, 1.0] * 10}
    random = suite_intervals.over_suites(values, Kind.VERDICT)
    with using(FIXED):
        fixed = suite_intervals.over_suites(values, Kind.VERDICT)
    assert (random.low, random.high) == (fixed.low, fixed.high)
    assert random.method == "stratified score; random: suites, items; only 2 suites"


def test_one_suite_has_the_interval_of_its_items_wherever_it_stands() -> None:
    items = [1.0, 0.0, 1.0, 1.0]
    assert suite_intervals.over_suites({"a": items}, Kind.VERDICT) == interval.of_items(items, Kind.VERDICT)
    assert suite_intervals.over_models({"a": np.array(items)[:, None]}, Kind.VERDICT) == interval.of_items(
        items, Kind.VERDICT
    )


def test_a_suite_without_items_leaves_no_interval_and_one_of_a_single_item_is_named() -> None:
    assert (
        suite_intervals.over_suites({"a": [0.0, 1.0], "b": []}, Kind.VERDICT).method
        == "no interval: no defined items in b"
    )
    assert suite_intervals.over_suites({}, Kind.VERDICT).method == "no interval: no suites"
    with using(FIXED):
        assert (
            "one item, taken together: b"
            in suite_intervals.over_suites({"a": [0.0, 1.0], "b": [1.0]}, Kind.VERDICT).method
        )
        assert (
            "one item, so no spread: b" in suite_intervals.over_suites({"a": [0.0, 1.0], "b": [1.0]}, Kind.BITS).method
        )


def test_clusters_are_as_in_survey_statistics() -> None:
    # Cochran 1977, section 9A: with clusters of one size, the variance of the mean is that of the clusters' means.
    values = np.array([[1.0, 1, 0], [0, 0, 0], [1, 1, 1], [0, 1, 0]])
    names = np.repeat(["a", "b", "c", "d"], 3).tolist()
    spread = cluster_intervals.spread_of_clusters((values - values.mean()).ravel() / 12, {"words": names})
    assert spread is not None
    assert spread.variance == pytest.approx(values.mean(1).var(ddof=1) / 4)
    assert (
        cluster_intervals.of_clusters(values.ravel(), Kind.VERDICT, {"words": names}).method
        == "Wilson with t(3); random: words; only 4 words"
    )


def test_crossed_clusters_add_what_both_kinds_vary() -> None:
    draw = np.random.default_rng(1)
    rows, columns = draw.normal(0, 1, 12)[:, None], draw.normal(0, 2, 15)[None]
    values = rows + columns  # no residue: the variances of both means add up
    codes = {"lemmas": np.indices(values.shape)[0].ravel(), "contexts": np.indices(values.shape)[1].ravel()}
    spread = cluster_intervals.spread_of_clusters((values - values.mean()).ravel() / values.size, codes)
    assert spread is not None
    cells = ((values - values.mean()) ** 2).sum() / values.size**2 * 180 / 179
    expected = rows.var(ddof=1) / 12 + columns.var(ddof=1) / 15 - cells
    assert spread.variance == pytest.approx(expected)
    assert spread.units == (("lemmas", 12), ("contexts", 15))


def test_a_kind_with_one_cluster_is_fixed() -> None:
    found = cluster_intervals.of_clusters([0, 1, 1, 0], Kind.VERDICT, {"suites": list("abcd"), "models": ["m"] * 4})
    assert found.method == "Wilson with t(3); random: suites; fixed: models; only 4 suites"
    assert (
        cluster_intervals.of_clusters([0, 1], Kind.VERDICT, {"models": ["m", "m"]}).method
        == "no interval: fewer than two models"
    )


def test_seeds_widen_an_interval() -> None:
    items = np.array([[1.0, 1, 0, 0, 1, 1, 0, 1]] * 3).T
    alike = dict.fromkeys("ab", items)
    apart = {name: np.column_stack([np.ones(8), np.zeros(8), items[:, 0]]) for name in "ab"}
    with using(FIXED):
        width = {}
        for name, values in (("apart", apart), ("alike", alike)):
            found = suite_intervals.over_models(values, Kind.VERDICT)
            width[name] = found.high - found.low
        assert width["apart"] > width["alike"]
        assert suite_intervals.over_models(apart, Kind.VERDICT).method.endswith(
            "random: models, items; fixed: suites; only 3 models"
        )


def test_columns_leave_out_what_is_undefined() -> None:
    values = np.array([[1.0, np.nan], [0.0, np.nan], [1.0, 0.5]])
    [(mean, found, n), (single, none, one)] = interval.of_columns(values, Kind.VERDICT, "contexts")
    assert (mean, n, single, one) == (2 / 3, 3, 0.5, 1)
    assert found == interval.of_items([1.0, 0.0, 1.0], Kind.VERDICT, "contexts")
    assert none.method == "no interval: fewer than two contexts"


def test_the_resampling_of_a_block_ends_with_it() -> None:
    with using(FIXED):
        with using(None):
            assert bootstrap.current() == FIXED
        with using(Resampling(draws=100)):
            assert bootstrap.current().draws == 100
    assert bootstrap.current() == Resampling()


@pytest.mark.parametrize("wrong", [{"suites": "all"}, {"draws": 99}, {"seed": -1}])
def test_settings_that_mean_nothing_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError, match=next(iter(wrong))):
        Resampling(**wrong)  # type: ignore[arg-type]


def test_seed_and_key_name_the_draw() -> None:
    first = bootstrap.counts(7, "a")
    assert (first == bootstrap.counts(7, "a")).all()
    assert (first != bootstrap.counts(7, "b")).any()
    with using(Resampling(seed=2)):
        assert (first != bootstrap.counts(7, "a")).any()
    assert first.shape == (2000, 7)
    assert first.mean() == 1


def test_percentiles_of_few_units_are_further_out() -> None:
    # Bootstrapped means of a normal sample: the expanded interval is about Student's (Hesterberg 2015).
    values = np.array([-1.6, -0.8, -0.4, 0.0, 0.3, 0.9, 1.6])
    draws = bootstrap.counts(7, "normal") @ values / 7
    low, high = bootstrap.interval(draws, 7)
    reach = stats.t.ppf(0.975, 6) * values.std(ddof=1) / sqrt(7)
    assert high - low == pytest.approx(2 * reach, rel=0.1)
    assert np.subtract(*np.percentile(draws, (97.5, 2.5))) < 0.8 * (high - low)


def test_bootstrapped_numbers_may_be_infinite_or_missing() -> None:
    assert bootstrap.interval([-inf] * 3 + [float(k) for k in range(100)], 1000) == (-inf, 97.0)
    assert bootstrap.interval([1.0] * 50 + [np.nan], 50) == (1.0, 1.0)
    assert np.isnan(bootstrap.interval([], 9)).all()
    assert np.isnan(bootstrap.interval([1.0, 2.0], 1)).all()


def test_one_suite_that_decides_is_named() -> None:
    draw = np.random.default_rng(1)
    values = {f"s{k}": draw.choice([-1.0, 0.0], 24, p=[0.1, 0.9]) for k in range(12)}
    values["fgd_hierarchy"] = np.ones(24)
    found, rest = (
        suite_intervals.over_suites(suites, Kind.VERDICT, True) for suites in (values, dict(list(values.items())[:-1]))
    )
    left = np.mean([items.mean() for items in list(values.values())[:-1]])
    assert found.p > 0.05 >= rest.p
    p = "p < 0.001" if rest.p < 0.001 else f"p = {rest.p:.2g}"
    assert found.remarks == (f"without fgd_hierarchy: {left:.3f} [{rest.low:.3f}, {rest.high:.3f}], {p}",)
    assert found.method == f"t(12) and Hall; random: suites, items; {found.remarks[0]}"
    # Nothing is remarked if the suites are alike, or fixed, or as different as suites are.
    del values["fgd_hierarchy"]
    assert suite_intervals.over_suites(values, Kind.VERDICT, True).remarks == ()
    with using(FIXED):
        assert suite_intervals.over_suites(values | {"fgd_hierarchy": np.ones(24)}, Kind.VERDICT, True).remarks == ()
    mixed = {
        f"s{k}": draw.choice([-1.0, 1.0], 24, p=[share, 1 - share]) for k, share in enumerate(np.linspace(0.2, 0.8, 12))
    }
    assert suite_intervals.over_suites(mixed, Kind.VERDICT, True).remarks == ()


def test_one_suite_that_decides_is_named_for_classes_of_models_too() -> None:
    """Twelve suites that two seeds of each class have; on one of them the second class alone is right."""
    draw = np.random.default_rng(3)
    first, second = (
        {f"s{k}": (draw.random((24, 2)) < right).astype(float) for k in range(12)} for right in (0.5, 0.45)
    )
    first["island"], second["island"] = np.zeros((24, 2)), np.ones((24, 2))
    value, found = model_classes.difference(first, second, Kind.VERDICT)
    without = [{suite: items for suite, items in side.items() if suite != "island"} for side in (first, second)]
    left, rest = model_classes.difference(*without, Kind.VERDICT)
    assert abs(value - left) > (rest.high - rest.low) / 4
    assert found.remarks[-1].startswith(f"without island: {left:.3f} [{rest.low:.3f}, {rest.high:.3f}]")
    assert rest.remarks == ("only 2 models",)
    # Of one class, 0 of 24 is as far from the others.
    assert suite_intervals.over_models(first, Kind.VERDICT).remarks[-1].startswith("without island: ")
    assert suite_intervals.over_models(without[0], Kind.VERDICT).remarks == ("only 2 models",)
    with using(FIXED):
        assert model_classes.difference(first, second, Kind.VERDICT)[1].remarks == ("only 2 models",)


def test_a_suite_without_an_item_that_all_models_have_is_named() -> None:
    first, second = ({name: np.ones((2, 2)) for name in ("agreement", "npi")} for _ in range(2))
    first["npi"], second["npi"] = np.array([[1, np.nan], [1, 1]]), np.array([[1.0, 1], [np.nan, 1]])
    value, found = model_classes.difference(first, second, Kind.VERDICT)
    assert (np.isnan(value), found.method) == (True, "no interval: no item defined under all models in npi")
    assert suite_intervals.over_models(first, Kind.VERDICT).method.startswith("Wilson")
    first["npi"][:, 1] = np.nan
    assert suite_intervals.over_models(first, Kind.VERDICT).method == "no interval: a model has no defined items in npi"


def test_several_models_on_one_item_have_no_interval() -> None:
    first, second = {"s": np.array([[1.0, 0.0]])}, {"s": np.array([[1.0, 1.0]])}
    assert suite_intervals.over_models(first, Kind.VERDICT).method == "no interval: fewer than two items"
    value, found = model_classes.difference(first, second, Kind.VERDICT)
    assert (value, found.method) == (0.5, "no interval: fewer than two items")


@pytest.mark.parametrize("models", [1, 2])
def test_the_difference_of_classes_is_about_items_that_are_defined_under_all_models(models: int) -> None:
    """Ten items are undefined in the first class, and wrong in the second: on the others, the classes are alike."""
    first, second = np.ones((20, models)), np.ones((20, models))
    first[10:], second[10:] = np.nan, 0.0
    for suites in (1, 2):
        sides = [{f"s{k}": side for k in range(suites)} for side in (first, second)]
        value, found = model_classes.difference(*sides, Kind.VERDICT)
        assert value == 0.0
        assert not found.low > value
        assert not found.high < value


def test_no_difference_of_shares_is_beyond_1() -> None:
    found = paired_intervals.of_difference([0.0, 1.0, 0.083, 1.0], Kind.SHARE)
    assert (found.low, found.high) == (pytest.approx(-0.36, abs=0.02), 1.0)
    suites = {"a": [0.9, 1.0], "b": [-0.2, -0.1], "c": [1.0, 1.0]}
    assert suite_intervals.over_suites(suites, Kind.SHARE, difference=True).high == 1.0
    assert suite_intervals.over_suites(suites, Kind.BITS, difference=True).high > 1.0


def test_scores_near_1_have_a_long_tail_by_nature_and_no_suite_is_named_for_it() -> None:
    draw = np.random.default_rng(5)
    named = 0
    for _ in range(60):
        accuracies = draw.beta(20, 1, 12)
        values = {str(k): (draw.random(24) < chance).astype(float) for k, chance in enumerate(accuracies)}
        named += bool(suite_intervals.over_suites(values, Kind.VERDICT).remarks)
    assert named <= 6
    values["broken"] = np.zeros(24)
    [remark] = suite_intervals.over_suites(values, Kind.VERDICT).remarks
    assert remark.startswith("without broken: 0.9")


def test_skewed_differences_of_suites_have_halls_interval_too() -> None:
    """Three of 31 suites differ by .6, the others by -.06: Student's interval ends before 0."""
    values = {str(k): np.repeat([1.0, 0.0], [60, 40]) for k in range(2)}
    values |= {str(k): np.repeat([-1.0, 0.0], [5 + k % 3, 95 - k % 3]) for k in range(2, 31)}
    found = suite_intervals.over_suites(values, Kind.VERDICT, True)
    means = np.array([items.mean() for items in values.values()])
    student = stats.ttest_1samp(means, 0)
    assert found.method.startswith("t(30) and Hall")
    assert found.high > student.confidence_interval().high
    assert found.p > student.pvalue
    assert (found.high < 0) == (found.p <= 0.05)


def random_differences(draw: np.random.Generator) -> tuple[dict[str, np.ndarray], Kind]:
    """Draw differences of verdicts or of bits in one to thirteen suites, small or large, alike or skewed."""
    kind = (Kind.VERDICT, Kind.BITS)[draw.integers(2)]
    count, shift = int(draw.choice([1, 2, 3, 5, 12, 13])), draw.normal(0, 0.1) * draw.integers(2)
    values = {}
    for k in range(count):
        n = int(draw.choice([1, 2, 3, 6, 12, 30]))
        if kind is Kind.BITS:
            values[str(k)] = draw.exponential(1, n) - 1 + shift if draw.random() < 0.5 else draw.normal(shift, 1, n)
        else:
            discordant, towards = draw.random(), draw.random() if draw.random() < 0.3 else 0.5
            values[str(k)] = draw.choice(
                [1.0, -1, 0], n, p=[discordant * towards, discordant * (1 - towards), 1 - discordant]
            )
    return values, kind


@pytest.mark.parametrize("suites", ["random", "fixed"])
def test_interval_and_test_agree_in_random_data(suites: bootstrap.Suites) -> None:
    """The benchmark draws 20,000 data sets; see `benchmarks/coverage_worlds.py`."""
    draw = np.random.default_rng(3)
    tested = 0
    with using(Resampling(suites=suites)):
        for _ in range(60):
            found = suite_intervals.over_suites(*random_differences(draw), difference=True)
            tested += not isnan(found.low)
            assert isnan(found.low) or (found.low > 0 or found.high < 0) == (found.p <= 0.05)
    assert tested > 40


def verdicts(right: list[int]) -> dict[str, np.ndarray]:
    """Return suites of 50 verdicts, of which so many are right."""
    return {str(k): np.repeat([1.0, 0.0], [n, 50 - n]) for k, n in enumerate(right)}


def test_skewed_suites_are_remarked_on_where_the_correction_for_it_doubles_the_interval() -> None:
    """Of twelve suites, two are .8 and .88 and the others .4 to .48: none stands apart."""
    right = [20] * 4 + [22] * 4 + [23, 24, 40, 44]
    means, found = np.array(right) / 50, suite_intervals.over_suites(verdicts(right), Kind.VERDICT)
    # Wilson's interval with the variance of the suites and Student's quantile.
    mean, z = means.mean(), stats.t.ppf(0.975, 11)
    n = mean * (1 - mean) / (means.var(ddof=1) / 12)
    middle = (mean + z * z / (2 * n)) / (1 + z * z / n)
    reach = z / (1 + z * z / n) * sqrt(mean * (1 - mean) / n + z * z / (4 * n * n))
    remark = f"skewed suites: [{middle - reach:.3f}, {middle + reach:.3f}] without the correction for skewness"
    assert found.remarks == (remark,)
    assert found.method == f"Wilson with t(11) and Hall; random: suites, items; {remark}"
    assert found.high - mean > 3 * (middle + reach - mean)
    # The same of differences, whose interval is Student's.
    differences = {suite: items - 0.4 for suite, items in verdicts(right).items()}
    student = stats.ttest_1samp(means - 0.4, 0).confidence_interval()
    [remark] = suite_intervals.over_suites(differences, Kind.SHARE, difference=True).remarks
    assert remark.startswith(f"skewed suites: [{student.low:.3f}, {student.high:.3f}]")


def test_where_one_suite_stands_apart_skewness_is_not_remarked_on_too() -> None:
    right = [20, 21] * 5 + [22, 49]
    [remark] = suite_intervals.over_suites(verdicts(right), Kind.VERDICT).remarks
    assert remark.startswith("without 11: ")


@pytest.mark.parametrize(
    "right",
    [
        [20] * 3 + [22] * 3 + [23, 40, 44],  # nine suites have no correction
        [20, 21, 22, 24, 25, 26, 26, 27, 28, 30, 31, 32],  # not skewed
        [20, 21, 22, 24, 25, 26, 26, 27, 28, 30, 33, 38],  # a little skewed: [.468, .631], not [.468, .598]
    ],
)
def test_suites_as_skewed_as_any_are_not_remarked_on(right: list[int]) -> None:
    assert not [
        remark
        for remark in suite_intervals.over_suites(verdicts(right), Kind.VERDICT).remarks
        if remark.startswith("skewed")
    ]


@pytest.mark.slow
def test_few_samples_of_suites_that_are_not_skewed_are_remarked_on() -> None:
    """Of normal suites Hall's interval is twice as wide as Student's in every seventh sample, by chance."""
    draw = np.random.default_rng(4)
    samples = ({str(k): draw.normal(m, 1, 24) for k, m in enumerate(draw.normal(0, 1, 10))} for _ in range(300))
    found = [suite_intervals.over_suites(values, Kind.BITS) for values in samples]
    assert sum(any(remark.startswith("skewed") for remark in each.remarks) for each in found) <= 0.05 * 300


@pytest.mark.filterwarnings("error")
def test_means_and_variances_are_those_of_numpy_bit_by_bit() -> None:
    draw = np.random.default_rng(3)
    samples = [draw.normal(size=size) for size in (1, 2, 7, 8, 9, 127, 129, 1000, 20_001)]
    samples += [(draw.random(size) < 0.3).astype(float) for size in (3, 400)]
    samples += [np.array([np.inf, 1.0]), np.array([np.inf, -np.inf, 2.0])]
    with np.errstate(invalid="ignore"):
        means = np.array([values.mean() for values in samples])
        variances = [values.var(ddof=1) if len(values) > 1 else None for values in samples]
    np.testing.assert_array_equal(interval.means_of(samples), means)
    np.testing.assert_array_equal([interval.mean_of(values) for values in samples], means)
    np.testing.assert_array_equal(np.array(interval.variances_of(samples), float), np.array(variances, float))
    assert np.isnan(interval.means_of([np.empty(0)])).all()
