"""Every error of a misused function, type or method is a `SyntagmError`; `tests/misuse.py` tries all of them."""

import inspect
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from misuse import Misuse, Misuses, public_calls

import syntagm as sg
from syntagm.models import LanguageModel

# What the models of the calls don't offer, what always refuses, and what needs a package.
REFUSED = (
    "LanguageModel.fill", "LanguageModel.parse", "LanguageModel.single", "LanguageModel.reduce", "Run.refuse",
    "Run.distributions", "Run.refuse_unreduced", "Table.to_pandas", "Figure.to_pandas",
)  # fmt: skip


def findings(misuses: Misuses, tried: Sequence[Misuse]) -> list[str]:
    return [str(finding) for misuse in tried if (finding := misuses.finding(misuse))]


@pytest.mark.slow
def test_a_sample_of_misuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two wrong values for each argument of everything public, and some for the options of views."""
    monkeypatch.chdir(tmp_path)
    misuses, draw = Misuses(tmp_path), random.Random(1)
    assert public_calls() - {call.name for call in misuses.calls} == set()
    for call in misuses.calls:
        try:
            call()
        except sg.SyntagmError as error:
            assert call.name in REFUSED, f"{call.name}: {error}"
    by_argument = dict[tuple[str, str], list[Misuse]]()
    for misuse in misuses.of_calls():
        by_argument.setdefault((misuse.call.name, misuse.parameter), []).append(misuse)
    tried = [misuse for group in by_argument.values() for misuse in draw.sample(group, 2)]
    assert findings(misuses, [*tried, *draw.sample(misuses.of_views(), 10)]) == []


@pytest.mark.slow
def test_all_misuses(tmp_path: Path) -> None:
    misuses = Misuses(tmp_path)
    assert findings(misuses, [*misuses.of_calls(), *random.Random(1).sample(misuses.of_views(), 150)]) == []


def test_everything_public_checks_its_arguments() -> None:
    """Callbacks are the user's to write, and so are measures; both are called by this package."""
    for name in set(sg.__all__) - {"Progress", "Measure"}:
        public = getattr(sg, name)
        if not (inspect.isclass(public) and issubclass(public, Exception)):
            assert hasattr(public, "__public__"), f"{name} lacks @public"
        if not inspect.isclass(public):
            assert public.__public__ == name


def test_signatures_and_docstrings_stay() -> None:
    assert list(inspect.signature(sg.score_text).parameters) == [
        "model", "text", "by", "context", "stride", "punctuation", "line_ends", "progress"
    ]  # fmt: skip
    assert inspect.signature(sg.Region).parameters["start"].annotation is int
    assert inspect.signature(LanguageModel.score).parameters.keys() == {"self", "texts", "done"}
    assert sg.evaluate.__doc__
    assert "seed: int = 1" in str(inspect.signature(sg.evaluate))
