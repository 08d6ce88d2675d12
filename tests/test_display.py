"""Characters that hide or reorder text: people see their codes, and files of data keep them."""

import json
import sys
import unicodedata
from pathlib import Path

import pytest
from toy_runs import toy_run

import syntagm as sg
from syntagm.cli import main
from syntagm.core import shown, shown_lines, visible
from syntagm.report import shell

# The overrides and isolates of the direction of text, and characters without a width.
HIDDEN = "\u061c\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff\u00ad\U000e0041"
# Signs of numbers and verses, which Unicode counts among the characters of formats, but which are seen.
SEEN = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"


def test_every_character_of_a_format_is_shown_by_its_code() -> None:
    formats = {chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) == "Cf"}
    assert {sign for sign in formats if visible(f"a{sign}b") != f"a⟨U+{ord(sign):04X}⟩b"} == set(SEEN)
    assert visible(HIDDEN) == "".join(f"⟨U+{ord(sign):04X}⟩" for sign in HIDDEN)
    for sign in "\u115f\u3164\uffa0\u034f\ufe00\U000e0100":
        assert visible(f"a{sign}b") == f"a⟨U+{ord(sign):04X}⟩b"


@pytest.mark.parametrize(
    "text",
    [
        "שלום עולם", "السلام عليكم", "می‌روم و ه‍", "क्‍षत्रिय", "ക്‍", "ᠠ᠋", "👨‍👩‍👧", "👩🏽‍💻", "🏳️‍🌈", "❤️ ☃︎ 1️⃣", "葛󠄀城",
        "naïve ﬁ", "\u00a0\u3000",
    ],
)  # fmt: skip
def test_letters_of_all_scripts_and_emoji_stay(text: str) -> None:
    assert visible(text) == shown(text) == shown_lines(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no\u200cthing", "no⟨U+200C⟩thing"),
        ("\u200dא", "⟨U+200D⟩א"),
        ("م\u200c\u200c", "م\u200c⟨U+200C⟩"),
        ("👨\u200da", "👨⟨U+200D⟩a"),
        ("a\ufe0f", "a⟨U+FE0F⟩"),
        ("❤\ufe0f\ufe0f", "❤\ufe0f⟨U+FE0F⟩"),
    ],
)
def test_joiners_and_selectors_that_nothing_needs_are_shown(text: str, expected: str) -> None:
    assert visible(text) == expected


def hostile() -> sg.Suite:
    """A suite with hidden characters wherever `check` admits them: in texts, tags, and names of predictions."""
    formula = sg.parse_formula("(*;%good%) < (*;%bad%)")

    def sentence(verb: str) -> sg.Sentence:
        text = f"The dog{HIDDEN} {verb}"
        return sg.Sentence(text, (sg.Region("noun", 0, len(text) - len(verb) - 1),))

    sentences = {"good": sentence("barks"), "bad": sentence("bark")}
    items = tuple(sg.Item(str(number), sentences, {f"tag{HIDDEN}": HIDDEN}) for number in range(3))
    prediction = sg.Prediction(f"agreement{HIDDEN}", formula)
    return sg.Suite(
        "dogs", items, (prediction,), {"circuit": f"Agreement{HIDDEN}", "reference": HIDDEN, "region.1": HIDDEN}
    )


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[sg.Run]:
    """Runs of models whose labels have hidden characters, too."""
    folder, found = tmp_path_factory.mktemp("hidden"), []
    for name in ("toy", "random"):
        model = sg.load_model(name)
        model.label = f"{name}{HIDDEN}"
        found.append(sg.run_suites(model, [hostile()], folder / name))
    return found


def hidden_in(text: str) -> set[str]:
    """Return the hidden characters in a text."""
    return set(HIDDEN) & set(text)


def spelled_in(text: str) -> set[str]:
    """Return the hidden characters that JSON or XML spell by their codes, so that a browser would show them."""
    return {sign for sign in HIDDEN if f"\\u{ord(sign):04x}" in text or f"&#{ord(sign)};" in text}


@pytest.mark.slow
def test_figures_tables_and_reports_have_none(runs: list[sg.Run], tmp_path: Path) -> None:
    sg.figure("scores", runs).save(tmp_path / "scores", ["svg", "vl.json"])
    sg.figure("comparison", runs).save(tmp_path / "comparison", ["svg"])
    sg.figure("regions", runs[0]).save(tmp_path / "regions", ["svg"])
    for name in ("scores", "comparison", "discordant"):
        sg.table(name, runs).save(tmp_path / f"table-{name}", ["md", "latex"])
    sg.table("scores", runs, wide=True).save(tmp_path / "wide", ["md", "latex"])
    sg.write_report(runs, tmp_path / "report.html")
    assert main(["cite", str(runs[0].folder), "-o", str(tmp_path / "cited")]) == 0
    files = [path for path in tmp_path.iterdir() if path.suffix != ".csv"]
    assert {path.suffix for path in files} == {".svg", ".json", ".md", ".tex", ".html", ".bib"}
    for path in files:
        text = path.read_text("utf-8")
        assert not hidden_in(text) | spelled_in(text), path
        # LaTeX sets the brackets as mathematics.
        assert path.suffix in (".bib", ".md") or "U+202E" in text, path
    assert set(HIDDEN) <= set((tmp_path / "scores.csv").read_text("utf-8"))


def test_notebooks_have_none(runs: list[sg.Run]) -> None:
    suite, pairing = hostile(), sg.compare(*runs)
    estimates, findings = sg.estimate(runs[0]), sg.check_suites(suite)
    assert not hidden_in(str(findings[0]))
    for each in (suite, runs[0], estimates, estimates[0], pairing, findings, sg.table("scores", runs)):
        assert not hidden_in(each._repr_html_()), each
        assert "U+202E" in each._repr_html_(), each
        assert not hidden_in(repr(each))
    assert not hidden_in(f"{estimates} {pairing} {sg.table('scores', runs)}")
    assert not hidden_in(str(sg.UsageError(HIDDEN, HIDDEN, HIDDEN, HIDDEN)))


def test_the_terminal_gets_none_and_data_keep_them(runs: list[sg.Run], capsys: pytest.CaptureFixture[str]) -> None:
    a, b = (str(run.folder) for run in runs)
    text = f"The dog{HIDDEN} barks"
    for line in (
        ["compare", a, b],
        ["table", "scores", a],
        ["score", "toy", text],
        ["integrity", a],
        ["figure", "x", HIDDEN],
    ):
        main(line)
        captured = capsys.readouterr()
        assert not hidden_in(captured.out + captured.err), line
    assert main(["score", "toy", "--json", text]) == 0
    assert json.loads(capsys.readouterr().out)["text"] == text
    assert main(["table", "scores", a, "--format", "csv"]) == 0
    assert HIDDEN in capsys.readouterr().out


def test_what_goes_to_a_terminal_is_for_people(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(["score", "toy", "--json", f"The dog{HIDDEN}"]) == 0
    assert not hidden_in(capsys.readouterr().out)


def test_scripts_and_styles_of_pages_have_none() -> None:
    """They are part of what the policy of a page hashes, so nothing may be replaced in them."""
    for name in ("page.js", "page.css"):
        text = (Path(shell.__file__).parent / name).read_text("utf-8")
        assert visible(text) == text


def test_runs_keep_each_character(tmp_path: Path) -> None:
    suite = hostile()
    run = toy_run(tmp_path / "run", suite)
    assert run.sentences(suite.name)["text"][0] == suite.items[0].sentences["good"].text
    assert sg.open_run(tmp_path / "run").suites[0].name == suite.name
