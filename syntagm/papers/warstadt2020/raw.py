"""What the authors of BLiMP published beside it: accuracies of four models by paradigm, and single judgements of people."""

from pathlib import Path

import numpy as np

from syntagm.errors import InputError
from syntagm.io import csv, json, utf8
from syntagm.papers.warstadt2020.paradigms import published
from syntagm.stats import suite_means
from syntagm.stats.suite_means import Key, Resampled

MODELS = {"ngram": "5-gram", "lstm": "LSTM", "txl": "TXL", "gpt2": "GPT-2"}
PEOPLE = "people"
# Pairs of each paradigm, and so what an accuracy with three digits counts.
PAIRS = 1000
SLOTS = 5
# Checks of attention, and a paradigm that stands in one list and nowhere else.
_NO_PARADIGM = ("attnchk", "subject_island")
Judgements = dict[str, dict[str, list[bool]]]


def models(path: Path) -> dict[Key, Resampled]:
    """(model, paradigm) -> how many of its 1,000 pairs a model got right; the means over categories are left out.

    Raises:
        InputError: the file is not what was published.
    """
    found: dict[Key, Resampled] = {}
    for number, row in json.objects(_text(path), path):
        try:
            counts = {name: row[key] * PAIRS for key, name in MODELS.items()}
            suite = str(row["UID"])
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path}, line {number}", f"{type(error).__name__}: {error}", _EXPECTED) from None
        for name, right in counts.items():
            if suite == "overall":
                continue
            if not 0 <= right <= PAIRS or abs(right - round(right)) > 1e-6:
                raise InputError(f"{path}, line {number}", f"{right / PAIRS} for {name}", f"a share of {PAIRS} pairs")
            if (name, suite) in found:
                raise InputError(f"{path}, line {number}", f"{suite} once more", "each paradigm once")
            found[name, suite] = suite_means.of_counts(suite, round(right), PAIRS)
    _refuse_lacking(str(path), {suite for _, suite in found})
    return found


_EXPECTED = "JSON with UID and accuracies " + ", ".join(MODELS)


def judgements(path: Path) -> Judgements:
    """paradigm -> good sentence -> for each judgement, whether it was chosen; paradigms that were dropped included.

    An assignment counts unless it was rejected; a slot counts if it was answered and is no check of attention. A choice is the
    first character of the answer, the rest of which is cut off in the file.

    Raises:
        InputError: the file is not what was published.
    """
    found: Judgements = {}
    assignments: set[str] = set()
    for _, row in csv.records(_text(path), path):
        if (assignment := row.get("AssignmentId", "")) in assignments:
            raise InputError(str(path), f"assignment {assignment} once more", "each once", "Get the file anew.")
        assignments |= {assignment} - {""}
        for slot in range(1, SLOTS + 1):
            try:
                condition, choice = row[f"Input.item_{slot}_condition"], row[f"Answer.Choice{slot}"][:1]
                fields, rejected = (
                    [row[f"Input.field_{slot}_{side}"] for side in (1, 2)],
                    row["AssignmentStatus"] == "Rejected",
                )
            except (KeyError, TypeError) as error:
                raise InputError(
                    str(path), f"{type(error).__name__}: {error}", "the file of single judgements"
                ) from None
            name, _, good = condition.rpartition("ans")
            if not rejected and choice in ("1", "2") and good in ("1", "2") and name not in _NO_PARADIGM:
                found.setdefault(name, {}).setdefault(fields[int(good) - 1], []).append(choice == good)
    return found


def people(found: Judgements) -> dict[Key, Resampled]:
    """(people, paradigm) -> the share of people who chose the good sentence, a number a pair, of the paper's paradigms.

    Raises:
        InputError: a paradigm has no judgement.
    """
    _refuse_lacking("judgements of people", set(found))
    made = {}
    for suite in published():
        if suite in found:
            rates = [float(np.mean(chosen)) for chosen in found[suite].values()]
            made[PEOPLE, suite] = suite_means.of_values(suite, rates)
    return made


def _refuse_lacking(place: str, there: set[str]) -> None:
    """Means over fewer paradigms would be other numbers than those that are printed."""
    if lacking := [suite for suite in published() if suite not in there]:
        said = f"nothing of {lacking[0]}" + (f" and {len(lacking) - 1} more paradigms" if len(lacking) > 1 else "")
        raise InputError(place, said, f"all {len(published())}", "Get the file anew.")


def won(found: Judgements) -> dict[str, tuple[int, int, int, int]]:
    """paradigm -> pairs that a majority got right, pairs with as many for either side, pairs, judgements."""
    made = {}
    for suite, pairs in found.items():
        rates = [float(np.mean(chosen)) for chosen in pairs.values()]
        judged = sum(map(len, pairs.values()))
        made[suite] = sum(one > 0.5 for one in rates), sum(one == 0.5 for one in rates), len(rates), judged
    return made


def summary(path: Path) -> dict[str, tuple[int, float, int]]:
    """paradigm -> pairs won, mean of the five shares, judgements, as the authors counted them.

    Raises:
        InputError: the file is not what was published.
    """
    try:
        rows = csv.records(_text(path), path)
        return {
            row["Condition"]: (int(row["accepted"]), float(row["total_mean"]), int(row["count"])) for _, row in rows
        }
    except (KeyError, ValueError) as error:
        raise InputError(str(path), f"{type(error).__name__}: {error}", "the summary of the judgements") from None


def _text(path: Path) -> str:
    try:
        return utf8.read(path)
    except InputError as error:
        cure = "Give the folder with models_summary.jsonl, human_responses.csv and human_validation_summary.csv."
        raise InputError(error.place, error.found, "a file of the repository of BLiMP", cure) from error
