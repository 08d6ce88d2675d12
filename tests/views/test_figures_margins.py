from math import inf, nan

import polars as pl

from syntagm.views import margins


def results(*rows: tuple[float, float]) -> pl.DataFrame:
    columns = {"suite": ["s"] * len(rows), "measure": ["0"] * len(rows)}
    return pl.DataFrame(columns | {"value": [value for value, _ in rows], "margin": [margin for _, margin in rows]})


def test_items_are_counted_by_margin_and_verdict() -> None:
    # From -1 to 2 bits in at most 30 bins of a round width: 0.1 bits each.
    table = margins.table(
        results((0.0, -1.0), (0.0, 0.0), (0.0, 0.00005), (1.0, 0.05), (1.0, 0.04), (1.0, 2.0)), "s", "0", "m"
    )
    counted = {(row["start"], row["end"], row["holds"]): row["items"] for row in table.iter_rows(named=True)}
    assert counted == {
        (-1.1, -1.0, False): 1,  # open on the left
        (-0.1, 0.0, False): 1,
        (0.0, 0.1, False): 1,  # a tie
        (0.0, 0.1, True): 2,
        (1.9, 2.0, True): 1,
    }


def test_margins_that_are_only_rounding_noise_are_still_counted() -> None:
    # The sums of the same bits in another order: 3 ties, of which one is exactly 0, within one bin of 0.0001 bits each side.
    table = margins.table(results((0.0, -1.4e-14), (0.0, 0.0), (0.0, 7e-15)), "s", "0", "m")
    counted = {(row["start"], row["end"], row["holds"]): row["items"] for row in table.iter_rows(named=True)}
    assert counted == {(-0.0001, 0.0, False): 2, (0.0, 0.0001, False): 1}
    assert margins.draw([table]).svg().count("<title>") == 2


def test_what_has_no_margin_is_left_out() -> None:
    assert margins.table(results((1.0, 3.0), (nan, nan), (1.0, inf)), "s", "0")["items"].sum() == 1
    assert len(margins.table(results((nan, nan)), "s", "0")) == 0
    assert len(margins.table(results((1.0, 1.0)), "s", "another")) == 0


def test_the_figure_has_a_bar_a_row() -> None:
    table = margins.table(results((0.0, -4.0), (1.0, 4.1), (1.0, 4.2)), "s", "0", "m")
    drawn = margins.draw([table]).svg()
    assert drawn.count("<title>") == 2
    assert "2 items between 4 and 4.5 bits" in drawn


def test_models_share_their_bins() -> None:
    tied, wide = results((0.0, 0.0), (0.0, -1e-5)), results((0.0, -4.0), (1.0, 4.2))
    ties, spread = margins.tables({"a": tied, "b": wide}, "s", "0")
    assert {row["end"] - row["start"] for row in ties.iter_rows(named=True)} == {
        row["end"] - row["start"] for row in spread.iter_rows(named=True)
    }
    assert ties["end"].to_list() == [0.0]
    assert ties["items"].to_list() == [2]
