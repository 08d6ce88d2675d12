"""How tables show their numbers."""

import pytest

from syntagm.views import Table


@pytest.mark.parametrize("column", ["p", "p Holm"])
def test_small_p_values_are_shown_as_such_and_kept_in_csv(column: str) -> None:
    table = Table("Tests", ("suite", column, "value"), (("a", 0.0009, 0.0009), ("b", 0.001, 0.001)))
    assert table.markdown().splitlines()[4:6] == ["| a | <0.001 | 0.001 |", "| b | 0.001 | 0.001 |"]
    assert str(table).splitlines()[3].split() == ["a", "<0.001", "0.001"]
    assert table.csv() == f"suite,{column},value\na,0.0009,0.0009\nb,0.001,0.001\n"
