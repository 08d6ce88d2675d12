"""Settings of parameters and fields, and the notations in which they are written."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

import pytest

from syntagm.core import UsageError, settings


@dataclass(frozen=True)
class Fields:
    condition: str
    less: float = 0.5
    most: Annotated[int, "the largest number"] = 3
    wide: bool = False
    scale: Literal["log", "linear"] | None = None
    series: tuple[str, ...] = ()


def made(runs: list[int], condition: str, less: float = 0.5, most: Annotated[int, "the largest number"] = 3) -> None:
    """Have the same settings as the first fields."""


def read(**texts: str) -> dict[str, object]:
    return settings.read(settings.of_fields(Fields), texts, "measure m")


def test_parameters_and_fields_declare_alike() -> None:
    of_fields = settings.of_fields(Fields)
    of_parameters = settings.of_parameters(made)
    for one, parameter in zip(of_fields[:3], of_parameters, strict=True):
        assert (one.name, one.default, one.help, one.required) == (
            parameter.name,
            parameter.default,
            parameter.help,
            parameter.required,
        )
    assert [(each.name, each.default, each.help, each.values.texts) for each in of_fields] == [
        ("condition", "", "", ()),
        ("less", "0.5", "", ()),
        ("most", "3", "the largest number", ()),
        ("wide", "no", "", ("yes", "no")),
        ("scale", "", "", ("log", "linear")),
        ("series", "", "", ()),
    ]
    assert [each.name for each in of_fields if each.required] == ["condition"]


def test_values_have_their_types() -> None:
    found = read(condition="good", less="1e-3", most="7", wide="on", scale="log", series="a, b")
    assert found == {"condition": "good", "less": 0.001, "most": 7, "wide": True, "scale": "log", "series": ("a", "b")}
    assert read(condition="") == {"condition": ""}


@pytest.mark.parametrize(
    ("text", "value"), [("yes", True), ("true", True), ("no", False), ("false", False), ("off", False)]
)
def test_what_people_write_for_yes_and_no(text: str, value: bool) -> None:
    assert read(condition="x", wide=text)["wide"] is value


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"less": "1"}, "measure m: no condition=; expected condition=VALUE"),
        (
            {"condition": "x", "colour": "red"},
            "measure m: no option 'colour'; expected one of condition=, less=, most=",
        ),
        ({"condition": "x", "less": "much"}, "measure m, less=: 'much'; expected a number"),
        ({"condition": "x", "most": "1.5"}, "measure m, most=: '1.5'; expected a whole number"),
        ({"condition": "x", "wide": "maybe"}, "measure m, wide=: 'maybe'; expected yes or no"),
        ({"condition": "x", "scale": "cubic"}, "measure m, scale=: 'cubic'; expected log or linear"),
    ],
)
def test_what_is_refused(texts: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(**texts)
    assert str(caught.value).startswith(message)


def test_a_type_that_nobody_can_write_is_refused() -> None:
    @dataclass(frozen=True)
    class Odd:
        table: dict[str, str]

    with pytest.raises(UsageError, match=r"measure m, table=: the type dict\[str, str\]; expected bool, int"):
        settings.read(settings.of_fields(Odd), {"table": "x"}, "measure m")


def test_what_may_be_left_out() -> None:
    @dataclass(frozen=True)
    class Partly:
        region: str | None = None
        most: int | None = None
        tags: tuple[str, ...] = field(default_factory=tuple)

    of_fields = settings.of_fields(Partly)
    assert not any(each.required for each in of_fields)
    assert settings.read(of_fields, {"region": "a", "most": "2"}, "m") == {"region": "a", "most": 2}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("m", ("m", {})),
        (" m() ", ("m", {})),
        ("m(a=b,c=d)", ("m", {"a": "b", "c": "d"})),
        ("m( a = b c , d = e=f )", ("m", {"a": "b c", "d": "e=f"})),
    ],
)
def test_calls(text: str, expected: tuple[str, dict[str, str]]) -> None:
    assert settings.called(text, "measure") == expected


@pytest.mark.parametrize("text", ["m(", "m(a)", "m(a=b,a=c)", "", "m(a=b,,c=d)"])
def test_no_calls(text: str) -> None:
    with pytest.raises(UsageError, match="expected"):
        settings.called(text, "measure")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a/b", ("a/b", {})),
        ("a/b?", ("a/b", {})),
        ("a?x=1&y=", ("a", {"x": "1", "y": ""})),
        ("a?x=two%20words&y=1%2B1", ("a", {"x": "two words", "y": "1+1"})),
    ],
)
def test_addresses(text: str, expected: tuple[str, dict[str, str]]) -> None:
    assert settings.asked(text, "model") == expected


@pytest.mark.parametrize(
    ("text", "found"), [("a?x", "options 'x'"), ("a?x=1&x=2", "an option given twice"), ("a?&", "'&'")]
)
def test_no_addresses(text: str, found: str) -> None:
    with pytest.raises(UsageError, match=found):
        settings.asked(text, "model")
