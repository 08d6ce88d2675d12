"""Options of views: declared in a signature, read from text, listed, refused."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import pytest
from toy_runs import agreement, toy_run

from syntagm.cli import main
from syntagm.core import Reader, UsageError, settings
from syntagm.runs import Run
from syntagm.views import by_name, call


def shown(
    runs: Sequence[Run],
    word: Annotated[str, "a word"] = "dog",
    wide: Annotated[bool, "a column a model"] = False,
    scale: Annotated[Literal["log", "linear"], "how"] = "log",
    by: Annotated[Literal["a", "b", "c"] | None, "which"] = None,
    names: Annotated[tuple[str, ...], "some"] = ("x", "y"),
    limit: Annotated[int | None, Reader("how many", int, "3")] = 3,
) -> tuple[object, ...]:
    return word, wide, scale, by, names, limit


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return toy_run(tmp_path_factory.mktemp("options") / "run", agreement())


def test_options_are_read_off_the_signature() -> None:
    told = [(one.name, one.default, one.values.texts) for one in settings.of_parameters(shown)]
    assert told == [
        ("word", "dog", ()), ("wide", "no", ("yes", "no")), ("scale", "log", ("log", "linear")),
        ("by", "", ("a", "b", "c")), ("names", "x,y", ()), ("limit", "3", ()),
    ]  # fmt: skip
    told = [one.help for one in settings.of_parameters(shown)]
    assert told == [
        "a word",
        "a column a model",
        "how",
        "which",
        "some",
        "how many",
    ]


def test_texts_become_values(run: Run) -> None:
    texts = {"word": "cat", "wide": "yes", "scale": "linear", "by": "b", "names": "p, q", "limit": "7"}
    assert call(shown, [run], texts, "shown") == ("cat", True, "linear", "b", ("p", "q"), 7)
    assert call(shown, [run], {}, "shown") == ("dog", False, "log", None, ("x", "y"), 3)
    assert call(shown, [run], {"names": ""}, "shown")[4] == ()


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"wide": "1"}, "wide=: '1'; expected yes or no"),
        ({"scale": "cubic"}, "scale=: 'cubic'; expected log or linear"),
        ({"by": "d"}, "by=: 'd'; expected one of a, b, c"),
        ({"words": "x"}, "shown: no option 'words'; expected one of by=, limit=, names=, scale=, wide=, word="),
    ],
)
def test_what_is_not_declared_is_refused(texts: dict[str, str], message: str, run: Run) -> None:
    with pytest.raises(UsageError) as caught:
        call(shown, [run], texts, "shown")
    assert message in str(caught.value)
    with pytest.raises(UsageError, match="no runs"):
        call(shown, [], {}, "shown")


@pytest.mark.parametrize("kind", ["table", "figure"])
def test_every_option_of_every_view_is_explained(kind: by_name.Kind, capsys: pytest.CaptureFixture[str]) -> None:
    for name in by_name.offering(kind):
        declared = settings.of_parameters(by_name.find(kind, name))
        assert all(one.help and "\n" not in one.help for one in declared), name
        # A default is one of the values that users may write.
        assert all(not one.values.texts or one.default in ("", *one.values.texts) for one in declared), name
        assert by_name.summary(name), name
        assert main([kind, name, "--list"]) == 0
        head, *lines = capsys.readouterr().out.splitlines()
        assert head.split()[0] == name
        assert [line.split("=")[0].strip() for line in lines] == [one.name for one in declared]
        assert all(one.help in line for one, line in zip(declared, lines, strict=True))


def test_the_options_of_a_view_that_there_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["table", "nope", "--list"]) == 2
    assert "no such name: 'nope'" in capsys.readouterr().err


def test_an_option_as_users_write_it(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["table", "discordant", str(run.folder), str(run.folder), "limit=some"]) == 2
    assert "limit=" in capsys.readouterr().err
    assert main(["table", "scores", str(run.folder), "wide=yes", "-o", str(tmp_path / "wide")]) == 0
