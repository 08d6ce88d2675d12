"""docs/map.md shows the package as it is."""

from tools import map


def test_the_map_is_current() -> None:
    assert map.PAGE.read_text(encoding="utf-8") == map.page(), "run `python -m tools.map`"
