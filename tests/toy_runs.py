"""Small runs with the toy model, for the tests that look at runs."""

from pathlib import Path
from typing import Any

from syntagm.models import load
from syntagm.runs import PERPLEXITY, Run, open_run, run_suites as run
from syntagm.runs.files import RECORD
from syntagm.suites import Item, Prediction, Region, Sentence, Suite, parse

FULL = Prediction("full_sentence", parse("(*;%good%) < (*;%bad%)"))


def sentence(*parts: str) -> Sentence:
    """Parts joined by blanks, each a region named by its number from 1."""
    regions, at = [], 0
    for number, part in enumerate(parts, 1):
        regions.append(Region(str(number), at, at + len(part)))
        at += len(part) + 1
    return Sentence(" ".join(parts), tuple(regions))


def agreement(name: str = "agreement", nouns: tuple[str, ...] = ("dog", "cat", "bird")) -> Suite:
    """Nouns with `barks` and `bark`; two predictions, about the verb and about the sentence.

    Of "barks" and "bark" the toy model has seen 2 and 0 after "dog", 0 and 1 after "cat", none after "bird". With one added
    to each, the margins are log2(3 / 1) = 1.585, log2(1 / 2) = -1 and log2(1 / 1) = 0 bits: one of three holds, one ties.
    """
    items = tuple(
        Item(str(k), {"good": sentence(f"The {noun}", "barks"), "bad": sentence(f"The {noun}", "bark")}, {"noun": noun})
        for k, noun in enumerate(nouns, 1)
    )
    predictions = (Prediction("verb", parse("(2;%good%) < (2;%bad%)")), FULL)
    return Suite(name, items, predictions, {"circuit": "Agreement", "region.1": "subject"})


def pairs(name: str, *texts: tuple[str, str], tags: dict[str, str] | None = None) -> Suite:
    """Minimal pairs without regions."""
    items = tuple(
        Item(f"{name}-{k}", {"good": Sentence(good), "bad": Sentence(bad)}, {"row": str(k)})
        for k, (good, bad) in enumerate(texts)
    )
    return Suite(name, items, (FULL,), tags or {})


def toy_run(folder: Path, *suites: Suite, model: str = "toy") -> Run:
    """Run the suites with the toy model."""
    return run(load(model), suites, folder)


def training_record(folder: Path, words: int, family: str = "lstm") -> Path:
    """Write what a training study records of the model of a run, in the study's folder `perplexity`."""
    path = folder.parent.parent / "perplexity" / f"{folder.name}.json"
    path.parent.mkdir(exist_ok=True)
    entries = {"seed": 1, "requested_words": words, "training_words": words, "words": 9, "unknown": 0, "undefined": 0}
    names = ("bits", "bits_per_word", "perplexity", "perplexity_known", "bits_per_character")
    texts = {"family": family, "size": "xs", "model": "m", "fingerprint": "f", "weights": "w"}
    PERPLEXITY.write(path, {**texts, **entries, **dict.fromkeys(names, 1.0), "policies": {}})
    return path


def edit_record(folder: Path, **changes: Any) -> None:
    """Change entries of the record of a run, and seal it."""
    path = folder / "run.json"
    RECORD.write(path, RECORD.read(path) | changes)


def interrupt(folder: Path, units: int | None = None) -> Run:
    """Make a finished run one that was interrupted after so many units, or before it could say that it is done."""
    words = {name: digest for name, digest in open_run(folder).record["files"].items() if name == "words.csv"}
    ledger = folder / "ledger.jsonl"
    ledger.write_text("".join(ledger.read_text().splitlines(keepends=True)[:units]))
    edit_record(folder, status="interrupted", finished=None, files=words)
    return open_run(folder)
