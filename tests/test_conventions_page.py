"""The page of conventions has every linking function and treatment, as they are declared."""

from tools import conventions


def test_the_page_is_up_to_date() -> None:
    assert conventions.PAGE.read_text(encoding="utf-8").startswith(conventions.page())
