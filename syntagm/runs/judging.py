"""By which conventions runs are judged, and how else their models were treated, in words for tables, reports and messages."""

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from syntagm.core import counted
from syntagm.evaluation import DEFAULT, PUBLISHED, People, recorded
from syntagm.models import families
from syntagm.runs.rejudged import convention_of_suite, whole
from syntagm.runs.several import listed, named
from syntagm.runs.signature import Signature
from syntagm.runs.store import Run

# The value of a tie -> what ties count as.
TIES = {0.0: "failures", 0.5: "half a hit", 1.0: "hits"}
# What parts of a signature are called, and their values. Other values have the words of their family.
_NAMES = {
    "bos": "start symbol", "eos": "end symbol", "boundary": "correction for the ends of words",
    "align": "tokens across the borders of regions", "tie": "bits within which there is a tie", "syntagm": "version of Syntagm",
}  # fmt: skip
_VALUES = {
    "bos:yes": "before each text", "bos:no": "none, so that the first token has no bits", "eos:yes": "scored",
    "eos:no": "not scored", "boundary:token": "none", "boundary:word": "made", "align:strict": "make an item undefined",
    "align:start": "belong to the region where they start",
}  # fmt: skip


def by_suite(run: Run) -> dict[str, str]:
    """Return the convention of each suite of a run: `bits`, or the name of another one."""
    return {suite.name: convention_of_suite(run, suite.name) for suite in run.suites}


def convention_of(run: Run) -> str:
    """Return the convention of a run; if those of its suites differ, `published` with each of them."""
    suites: dict[str, list[str]] = {}
    for suite, convention in by_suite(run).items():
        suites.setdefault(convention, []).append(suite)
    if len(suites) > 1:
        return f"{PUBLISHED} ({'; '.join(f'{name}: {listed(own)}' for name, own in suites.items())})"
    return next(iter(suites), DEFAULT)


def ties_of(runs: Sequence[Run], measure: str = "", suite: str = "") -> str:
    """Return what ties count as, as in `TIES`; several where some predictions don't compare two whole sentences."""
    values = {
        tie_value(convention) if prediction in whole(run, name) else 0.0
        for run in runs
        for name, convention in by_suite(run).items()
        if suite in ("", name)
        for prediction in run.suite(name).predictions_for(measure)
    } or {0.0}
    said = " or as ".join(TIES[value] for value in sorted(values, reverse=True))
    return f"{said}, as the convention says" if len(values) > 1 else said


def tie_value(convention: str) -> float:
    """Return the value of a tie under a convention: 0 for a failure, as under an unknown one."""
    return parsed.tie if (parsed := recorded(convention)) else 0.0


def describe(runs: Sequence[Run]) -> str:
    """Return a sentence about the conventions of runs that are not judged by the sum of bits; "" if all are.

    >>> import syntagm as sg
    >>> describe([sg.evaluate(sg.load_model("toy"), sg.read_suites("hu2020/mvrr"), limit=1)])
    ''
    """
    found = dict.fromkeys(convention_of(run) for run in runs if _applies(run))
    if [*found] in ([], [DEFAULT]) or different(runs):
        return ""
    [name] = found
    said = f"{name} ({words})" if (words := explain(name)) else name
    return f"Convention: {said}, instead of the sum of bits, where predictions compare two whole sentences."


def signature_over(run: Run, suites: Sequence[str], measure: str) -> Signature:
    """Return the signature of a number over some suites; it names the convention if any of them is judged by one."""
    signatures = [run.signature(suite, measure) for suite in suites]
    named_ones = (each for each in signatures if any(part.startswith("convention:") for part in each.asked))
    chosen = next(named_ones, signatures[0])
    return chosen if len(suites) == 1 else chosen.over(len(suites))


def explain(convention: str) -> str:
    """Return what a convention compares, as phrases; "" for several conventions.

    >>> explain("mean_byte+ties_as_hits")
    'surprisal per byte of UTF-8; a tie is a hit'
    """
    if not (parsed := recorded(convention)):
        return ""
    return "; ".join([parsed.linking.says, *(each.says for each in parsed.treatments)])


def different(runs: Sequence[Run]) -> str:
    """Return a sentence about runs that are judged by different conventions; "" if there are none."""
    models = _models_by({name: convention_of(run) for name, run in named(runs) if _applies(run)})
    if len(models) < 2:
        return ""
    parts = [f"{names} by {convention}" for convention, names in models.items()]
    return f"DIFFERENT CONVENTIONS: {'; '.join(parts)}. Their numbers may differ for this reason alone."


def _models_by(values: Mapping[str, str]) -> dict[str, str]:
    """Return the names of the models that have each value: at most three, and how many more there are."""
    models: dict[str, list[str]] = {}
    for name, value in values.items():
        models.setdefault(value, []).append(name)
    return {
        value: ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        for value, names in models.items()
    }


def treatment(runs: Sequence[Run]) -> str:
    """Return a sentence about what differs in the signatures of runs besides model, items and convention; "" if nothing does."""
    # A setting that only some of the models have, such as the masking of masked models, is no difference in treatment.
    treated = {name: _treatment(run) for name, run in named(runs) if run.task is not People}
    found = []
    for key in dict.fromkeys(key for settings in treated.values() for key in settings):
        models = _models_by({name: settings[key] for name, settings in treated.items() if key in settings})
        if len(models) > 1:
            values = [f"{value} ({names})" for value, names in models.items()]
            more = f"; and {len(values) - 5} more" if len(values) > 5 else ""
            found.append(f"{_NAMES.get(key, key)}: {'; '.join(values[:5])}{more}")
    return f"DIFFERENT TREATMENT. {'. '.join(found)}. Numbers may differ for this reason alone." if found else ""


def _treatment(run: Run) -> dict[str, str]:
    """Return the parts of a run's signatures that say how its model was treated, in words."""
    family, options = families.of_model(run.model), run.record["options"]
    parts = {**settings(run), **({"align": options["align"]} if "align" in options else {})}
    # The seed of a random model is the model.
    parts.pop("seed", None)
    said = {
        key: _VALUES.get(f"{key}:{value}") or (family.words(key, value) if family else value)
        for key, value in parts.items()
    }
    return said | {"tie": f"{run.tolerance_in_bits:g}", "syntagm": run.record["versions"]["syntagm"]}


def settings(run: Run) -> dict[str, str]:
    """Return the scoring settings of a model that matter in a run, which either scored texts or filled gaps."""
    family, recorded = families.of_model(run.model), run.record["model"]["policies"]
    others: frozenset[str] = frozenset()
    if family:
        others = family.texts_only if run.task.needs == "fill" else family.gaps_only
    return {name: str(value) for name, value in recorded.items() if name not in others}


def unscored(runs: Sequence[Run]) -> Iterator[str]:
    """Yield a sentence for each run in which sentences of an item differ in the first token, and it has no bits."""
    for name, run in named(runs):
        if run.record["model"]["start"] is not None or not run.task.surprisals or "parquet" not in run.tables:
            continue
        first = pl.col("text").str.slice(0, pl.col("starts").list.get(1, null_on_oob=True))
        lost = 0
        for suite in run.suites:
            firsts = run.sentences(suite.name).group_by(pl.col("item").rle_id()).agg(first.n_unique() > 1)
            lost += int(firsts["text"].sum())
        if lost:
            yield (
                f"{name}: in {lost:,} of {counted(sum(suite.items for suite in run.suites), 'item')}, sentences differ in "
                "the first token, whose bits are not compared, since nothing precedes the first token of a text "
                f"(bos={settings(run).get('bos', 'no')})"
            )


def _applies(run: Run) -> bool:
    """Return whether a convention decides any verdict of a run: of people and of gaps there is none."""
    return run.task is not People and any(whole(run, suite.name) for suite in run.suites)
