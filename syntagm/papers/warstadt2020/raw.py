"""Reader of the results published with BLiMP: accuracies of four models by paradigm, and individual human judgements."""

from pathlib import Path

import numpy as np

from syntagm.core import InputError, csv, json, utf8
from syntagm.evaluation import Kind
from syntagm.papers.warstadt2020.paradigms import published
from syntagm.stats import Key, Sample, score

MODELS = {"ngram": "5-gram", "lstm": "LSTM", "txl": "TXL", "gpt2": "GPT-2"}
PEOPLE = "people"
# Pairs of each paradigm; an accuracy with three digits is a count of these.
PAIRS = 1000
SLOTS = 5
# Attention checks, and a paradigm that is in only one of the lists.
_NO_PARADIGM = ("attnchk", "subject_island")
Judgements = dict[str, dict[str, list[bool]]]


def models(path: Path) -> dict[Key, Sample]:
    """Read how many of the 1,000 pairs of a paradigm a model got right: (model, paradigm) -> sample."""
    # Means over categories are skipped.
    samples: dict[Key, Sample] = {}
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
            if (name, suite) in samples:
                raise InputError(f"{path}, line {number}", f"{suite} twice", "each paradigm once")
            samples[name, suite] = score.of_counts(suite, round(right), PAIRS)
    _refuse_lacking(str(path), {suite for _, suite in samples})
    return samples


_EXPECTED = "JSON with UID and accuracies " + ", ".join(MODELS)


def judgements(path: Path) -> Judgements:
    """Read individual human judgements: paradigm -> good sentence -> whether each judgement chose it."""
    # Dropped paradigms are included. An assignment counts unless it was rejected. A slot counts if it was answered and
    # is not an attention check. The choice is the first character of the answer; the rest of the answer is truncated in
    # the file.
    choices: Judgements = {}
    assignments: set[str] = set()
    for _, row in csv.records(_text(path), path):
        if (assignment := row.get("AssignmentId", "")) in assignments:
            raise InputError(str(path), f"assignment {assignment} twice", "each once", "Download the file again.")
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
                    str(path), f"{type(error).__name__}: {error}", "the file of individual judgements"
                ) from None
            name, _, good = condition.rpartition("ans")
            if not rejected and choice in ("1", "2") and good in ("1", "2") and name not in _NO_PARADIGM:
                choices.setdefault(name, {}).setdefault(fields[int(good) - 1], []).append(choice == good)
    return choices


def people(judgements: Judgements) -> dict[Key, Sample]:
    """Compute the share of people who chose the good sentence of each pair: (people, paradigm) -> sample."""
    _refuse_lacking("human judgements", set(judgements))
    samples = {}
    for suite in published():
        if suite in judgements:
            rates = [float(np.mean(chosen)) for chosen in judgements[suite].values()]
            samples[PEOPLE, suite] = score.of_values(suite, Kind.SHARE, rates)
    return samples


def _refuse_lacking(place: str, present: set[str]) -> None:
    """Refuse incomplete data, because means over fewer paradigms are not comparable with the printed ones."""
    if lacking := [suite for suite in published() if suite not in present]:
        found = f"no data for {lacking[0]}" + (f" and {len(lacking) - 1} more paradigms" if len(lacking) > 1 else "")
        raise InputError(place, found, f"all {len(published())}", "Download the file again.")


def count_wins(judgements: Judgements) -> dict[str, tuple[int, int, int, int]]:
    """Count the pairs of each paradigm: paradigm -> pairs won by a majority, tied pairs, all pairs, and judgements."""
    counts = {}
    for suite, pairs in judgements.items():
        rates = [float(np.mean(chosen)) for chosen in pairs.values()]
        judged = sum(map(len, pairs.values()))
        counts[suite] = sum(rate > 0.5 for rate in rates), sum(rate == 0.5 for rate in rates), len(rates), judged
    return counts


def summary(path: Path) -> dict[str, tuple[int, float, int]]:
    """Read the authors' summary: paradigm -> pairs won, mean of the five proportions, and judgements."""
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
