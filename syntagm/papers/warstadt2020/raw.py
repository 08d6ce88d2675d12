"""Reader of the results published with BLiMP: accuracies of four models by paradigm, and individual human judgements."""

from collections.abc import Iterator, Sequence
from math import nan
from pathlib import Path

import numpy as np
import polars as pl

from syntagm.core import InputError, csv, json, utf8
from syntagm.evaluation import Estimate, Group, Kind
from syntagm.papers.paper import cited
from syntagm.papers.warstadt2020.paradigms import CONTRASTS, published
from syntagm.papers.warstadt2020.tables import Samples
from syntagm.stats import Key, Sample, mean, score
from syntagm.views import Cell, Table

MODELS = {"ngram": "5-gram", "lstm": "LSTM", "txl": "TXL", "gpt2": "GPT-2"}
PEOPLE = "people"
# Pairs of each paradigm; an accuracy with three digits is a count of these.
PAIRS = 1000
SLOTS = 5
# Attention checks, and a paradigm that is in only one of the lists.
_NO_PARADIGM = ("attnchk", "subject_island")
Judgements = dict[str, dict[str, list[bool]]]


def model_samples(path: Path) -> dict[Key, Sample]:
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


def read_judgements(path: Path) -> Judgements:
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


def people_samples(judgements: Judgements) -> dict[Key, Sample]:
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


def read_summary(path: Path) -> dict[str, tuple[int, float, int]]:
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


FIRST = "the printed number includes two paradigms that were dropped from the data"
FIRST_GPT2 = f"{FIRST}, and is that of another GPT-2"
OLD_GPT2 = "the printed number is that of the first run of GPT-2 and was not corrected"
JUDGED = "the printed number is rounded"
COUNTED = "the authors' summary counts a judgement less, or more, in four paradigms"
Row = tuple[Cell, ...]


def printed_table(
    means: Sequence[Estimate], correlations: pl.DataFrame, contrasts: Sequence[Estimate], judgements: Judgements
) -> Table:
    """Make the table of printed and computed numbers, with whether they are the same when rounded."""
    rows = [*_printed_means(means), *_correlations(correlations), *_contrasts(contrasts), *_printed_people(judgements)]
    differing = sum(row[-2] == "no" for row in rows)
    notes = (
        f"{differing} of {len(rows)} printed numbers differ from those computed from the published data.",
        "n and intervals: see table3, table_correlations, table_contrasts and table_people.",
        "Printed: transcribed from " + cited("warstadt2020")["source"],
        "Remarks on the publication are not computed: they say what its authors and readers reported about a printed number.",
        "first version: arXiv, December 2019; corrected: the paper in the data repository. Readers reported the differences "
        "(alexwarstadt/blimp, issues 2, 4 and 5).",
    )
    columns = ("what", "system", "computed", "printed", "where", "same", "remark on the publication")
    return Table("Printed numbers, and what the data give", columns, tuple(rows), (), notes)


def _row(what: str, system: str, computed: float, text: str, where: str, cause: str = "") -> Row:
    digits = len(text.partition(".")[2])
    # A number is the same if it is within half a unit of the last printed digit, however halves are rounded.
    same = abs(computed - float(text)) <= 0.5 * 10.0**-digits + 1e-9
    return what, system, computed, text, where, "yes" if same else "no", "" if same else cause


def _printed_means(means: Sequence[Estimate]) -> Iterator[Row]:
    values = {(mean.group["phenomenon"], mean.group.model): 100 * mean.value for mean in means}
    quoted = cited("warstadt2020")
    systems = [(name, PEOPLE if name == "Human" else name) for name in quoted["columns"]]
    for name, ours in systems:
        if ("all", ours) in values:
            cause = FIRST_GPT2 if name == "GPT-2" else FIRST
            text = f"{quoted['first'][name]:.1f}"
            yield _row("mean of all paradigms, %", ours, values["all", ours], text, "first version, Table 3", cause)
    for line in quoted["table3"]:
        for name, ours in systems:
            if (line["phenomenon"], ours) in values:
                what = (
                    f"mean of {line['phenomenon'].replace('_', ' ')}{' paradigms' * (line['phenomenon'] == 'all')}, %"
                )
                computed = values[line["phenomenon"], ours]
                cause = COUNTED if ours == PEOPLE else "not known"
                yield _row(what, ours, computed, f"{line[name]:.1f}", "corrected, Table 3", cause)


def _correlations(table: pl.DataFrame) -> Iterator[Row]:
    pearson = table.filter(pl.col("kind") == "Pearson").select("a", "b", "r").iter_rows()
    values = {frozenset((a, b)): r for a, b, r in pearson}
    for line in cited("warstadt2020")["correlations"]:
        pair = [PEOPLE if line[side] == "Human" else line[side] for side in ("a", "b")]
        if frozenset(pair) in values:
            cause = OLD_GPT2 if "GPT-2" in pair else "not known"
            where = "both versions, correlations"
            yield _row("Pearson's r", " and ".join(pair), values[frozenset(pair)], f"{line['r']:.2f}", where, cause)


def _contrasts(estimates: Sequence[Estimate]) -> Iterator[Row]:
    names = {contrast.description: contrast.printed for contrast in CONTRASTS}
    values = {(names[each.group["contrast"]], each.group.model): 100 * each.value for each in estimates}
    descriptions = {contrast.printed: contrast.description for contrast in CONTRASTS}
    for line in cited("warstadt2020")["contrasts"]:
        if (key := (line["contrast"], line["system"])) in values:
            same = line["least"] - 1e-9 <= values[key] <= line["most"] + 1e-9
            cause = OLD_GPT2 if line["system"] == "GPT-2" else "not known"
            what = f"{descriptions[line['contrast']]}, percentage points"
            found = ("yes", "") if same else ("no", cause)
            yield what, line["system"], values[key], line["words"], "text", *found


def _printed_people(judgements: Judgements) -> Iterator[Row]:
    if not (counts := [count for suite, count in count_wins(judgements).items() if suite in published()]):
        return
    right, tied, pairs, judged = (sum(column) for column in zip(*counts, strict=True))
    validation = cited("warstadt2020")["validation"]
    printed, where = f"{validation['majority']:.1f}", "both versions"
    yield _row("pairs that a majority judged correctly, %", PEOPLE, 100 * right / pairs, printed, where, "not known")
    with_ties = 100 * (right + tied) / pairs
    yield f"the same if the {tied} ties count as won, %", PEOPLE, with_ties, "", "", "", "ties count as lost"
    yield _row("judgements", PEOPLE, float(judged), str(validation["judgements"]), where, JUDGED)


def people_table(samples: Samples, judgements: Judgements) -> Table:
    """Make the table of human judgements by paradigm, including the paradigms dropped because of these judgements."""
    counts = count_wins(judgements)
    rows: list[tuple[Cell, ...]] = []
    kept = [count for suite, count in counts.items() if suite in published()]
    for suite, (right, tied, pairs, judged) in sorted(counts.items()):
        sample = samples.get((PEOPLE, suite))
        numbers = mean([sample], Group()).numbers[:3] if sample else (None,) * 3
        rows.append((suite, "kept" if suite in published() else "dropped", *numbers, pairs, right, tied, judged))
    columns = ("paradigm", "data", "agreement", "low", "high", "n", "won", "tied", "judgements")
    notes = (
        "agreement: the mean over n pairs of the share of people who chose the good sentence; 95 % interval: for other "
        "pairs.",
        "won: by a majority; a tie is lost. A paradigm was kept if four of its five pairs were won.",
        f"{sum(count[0] for count in kept)} of {sum(count[2] for count in kept)} pairs of the kept paradigms are won.",
    )  # fmt: skip
    return Table("Human judgements", columns, tuple(rows), (), notes)


def differing(judgements: Judgements, counted: dict[str, tuple[int, float, int]]) -> list[str]:
    """List the paradigms where the authors' summary differs from the individual judgements."""
    paradigms, counts = [], count_wins(judgements)
    for suite, (right, agreement, judged) in counted.items():
        ours = counts.get(suite, (0, 0, 0, 0))
        rate = nan
        if suite in judgements:
            rate = float(np.mean([np.mean(choices) for choices in judgements[suite].values()]))
        if (ours[0], ours[3]) != (right, judged) or abs(rate - agreement) > 1e-9:
            paradigms.append(suite)
    return paradigms
