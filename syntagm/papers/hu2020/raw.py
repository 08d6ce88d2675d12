"""The raw data of Hu et al. 2020 (`perplexity.csv`, `sg_results/*.csv`): read, prepared, and compared with the paper.

A results file has the columns model, suite, item and correct (True or False). Models are named NAME_CORPUS_SEED, with an empty
corpus for off-the-shelf models. The perplexity file has the columns model, corpus, seed and test_ppl. Seeds are integers,
so 0111 in one file is the same as 111 in another.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import comb, log
from pathlib import Path

import polars as pl

from syntagm.core import InputError, UsageError, csv, utf8
from syntagm.evaluation import chance_level
from syntagm.papers.hu2020.study import (
    LABELS,
    NOT_OF_THE_STUDY,
    PERPLEXITY,
    WITHDRAWAL,
    WITHDRAWN,
    WORD_BY_WORD,
    Study,
    label,
)
from syntagm.papers.paper import cited
from syntagm.suites import Formula, Suite
from syntagm.views import INSTANCE, Cell, Table, by_mean, by_vote

RESULTS = ("model", "suite", "item", "correct")
PERPLEXITIES = ("model", "corpus", "seed", "test_ppl")
_ID = re.compile(r"(.+)_([^_]*)_(\d{1,18})")
# The beginning of a suite's name determines its circuit.
CIRCUITS = {
    "npi": "Licensing", "reflexive": "Licensing",
    "fgd": "Long-Distance Dependencies", "cleft": "Long-Distance Dependencies",
    "number": "Agreement",
    "npz": "Garden-Path Effects", "mvrr": "Garden-Path Effects",
    "subordination": "Gross Syntactic State",
    "center": "Center Embedding",
}  # fmt: skip
# A suite of one item that belongs to no circuit.
NO_CIRCUIT = "nn"


@dataclass(frozen=True, slots=True)
class Raw:
    """The contents of the files, before anything is excluded."""

    items: pl.DataFrame  # the answers, with the columns of `views.classes.ITEM`
    perplexity: pl.DataFrame  # the perplexities, with the columns of `PERPLEXITY`; empty if there is no such file
    # The mean score of random answers on each suite: columns suite and score; empty if there is no such file.
    random: pl.DataFrame


def read(folder: Path) -> Raw:
    files = sorted((folder / "sg_results").glob("*.csv")) if folder.is_dir() else []
    if not files:
        expected = "a folder with sg_results/*.csv, as data/raw of cpllab/syntactic-generalization"
        raise InputError(str(folder), "no results of Hu et al. 2020", expected)
    items = pl.concat([_results(file) for file in files])
    _refuse_twice(items, files[0].parent)
    random = items.filter(pl.col("model") == "random")
    answered = items.filter(pl.col("model") != "random")
    _refuse_unequal(answered, files[0].parent)
    path = folder / "perplexity.csv"
    perplexity = _perplexities(path) if path.exists() else pl.DataFrame(schema=PERPLEXITY)
    scores = random.group_by("suite", maintain_order=True).agg(pl.col("value").mean().alias("score"))
    return Raw(answered, perplexity, scores)


def circuit_of(suite: str) -> str:
    """Return the circuit of a suite, judging by the beginning of its name; empty if it has none.

    >>> circuit_of("npz_obj_mod"), circuit_of("fgd-embed3"), circuit_of("nn-nv-rpl")
    ('Garden-Path Effects', 'Long-Distance Dependencies', '')
    """
    return CIRCUITS.get(re.split(r"[-_\d]", suite, maxsplit=1)[0], "")


def _results(file: Path) -> pl.DataFrame:
    table = _read(file, RESULTS)
    names = table["model"].unique(maintain_order=True).to_list()
    instances = pl.DataFrame([(name, *_instance(name, file)) for name in names], schema=_INSTANCES, orient="row")
    _refuse_values(table, file)
    joined = table.join(instances, left_on="model", right_on="id", how="left", maintain_order="left")
    return joined.select(
        pl.col("name").alias("model"), "corpus", "seed", "suite", "item",
        (pl.col("correct") == "True").cast(pl.Float64).alias("value"),
    )  # fmt: skip


def _instance(name: str, file: Path) -> tuple[str, str, int]:
    """Split the name of a model into name, corpus and seed.

    >>> _instance("gpt-2_bllip-md-gptbpe_1581861474", Path("f.csv")), _instance("grnn__0", Path("f.csv"))
    (('gpt-2', 'bllip-md-gptbpe', 1581861474), ('grnn', '', 0))
    """
    match = _ID.fullmatch(name)
    if not match:
        raise InputError(str(file), f"a model named {name!r}", "NAME_CORPUS_SEED with an integer seed")
    return match[1], match[2], int(match[3])


def _refuse_values(table: pl.DataFrame, file: Path) -> None:
    invalid = pl.col("correct").is_in(["True", "False"]).not_() | pl.col("correct").is_null()
    if len(invalid_rows := table.with_row_index("line", 2).filter(invalid)):
        line, value = invalid_rows.row(0, named=True)["line"], invalid_rows.row(0, named=True)["correct"]
        raise InputError(f"{file}, line {line}", f"correct is {value!r}", "True or False")
    for suite in table["suite"].unique(maintain_order=True):
        if not suite or (not circuit_of(suite) and not suite.startswith(NO_CIRCUIT)):
            known = ", ".join([*CIRCUITS, NO_CIRCUIT])
            raise InputError(str(file), f"an unknown suite {suite!r}", f"a name that begins with one of {known}")
    if table["item"].null_count():
        line = table.with_row_index("line", 2).filter(pl.col("item").is_null())["line"][0]
        raise InputError(f"{file}, line {line}", "no item number", "an integer")


def _refuse_twice(items: pl.DataFrame, place: Path) -> None:
    keys = (*INSTANCE, "suite", "item")
    twice = items.group_by(keys).len().filter(pl.col("len") > 1).sort(keys)
    if len(twice):
        model, corpus, seed, suite, item, times = twice.row(0)
        found = f"item {item} of {suite} {times} times for {model}_{corpus}_{seed}"
        raise InputError(str(place), found, "each item once per model", "Remove the file that repeats another.")


def _refuse_unequal(items: pl.DataFrame, place: Path) -> None:
    """Refuse models that answer different items, because their means would not be comparable."""
    models = items.select(INSTANCE).unique(maintain_order=True)
    everything = items.select("suite", "item").unique(maintain_order=True)
    lacking = models.join(everything, how="cross").join(items, on=[*INSTANCE, "suite", "item"], how="anti")
    if len(lacking):
        row = lacking.sort(*INSTANCE, "suite", "item").row(0, named=True)
        found = "no answer of {model}_{corpus}_{seed} to item {item} of {suite}".format(**row)
        raise InputError(str(place), found, "one, as for other models", "Download the file again, or remove the model.")


def _perplexities(file: Path) -> pl.DataFrame:
    table = _read(file, PERPLEXITIES)
    typed = table.select(
        "model",
        pl.col("corpus").fill_null(""),
        pl.col("seed").cast(pl.Int64, strict=False),
        pl.col("test_ppl").cast(pl.Float64, strict=False).alias("perplexity"),
    )
    number = pl.col("perplexity")
    invalid = pl.col("seed").is_null() | number.is_null() | ~(number.is_finite() & (number >= 1))
    if len(invalid_rows := typed.with_row_index("line", 2).filter(invalid)):
        line = invalid_rows["line"][0]
        raise InputError(f"{file}, line {line}", "no seed or no perplexity", "an integer, and a number of at least 1")
    if len(twice := typed.filter(typed.select(INSTANCE).is_duplicated())):
        raise InputError(str(file), f"two perplexities of {'_'.join(map(str, twice.row(0)[:3]))}", "one per model")
    return typed


def _read(file: Path, columns: Sequence[str]) -> pl.DataFrame:
    """Read columns of a CSV file as text; an empty cell becomes null."""
    rows = [row for _, row in csv.records(utf8.read(file), file, columns)]
    if not rows:
        raise InputError(
            str(file), "a header and no rows", "a row per answer or model", "Download the file again, or remove it."
        )
    cells = {name: [row[name] or None for row in rows] for name in columns}
    return pl.DataFrame(cells, schema=dict.fromkeys(columns, pl.String))


_INSTANCES = {"id": pl.String, "name": pl.String, "corpus": pl.String, "seed": pl.Int64}


# How raw data are prepared before means are computed (`notebooks/main.py` of their repository):
# 1. Suites are assigned to circuits by the beginnings of their names (`circuit_of`).
# 2. Three suites are excluded; 31 of the 34 remain (`with_suites`).
# 3. Models that do not belong to the study are excluded (`of_the_study`).
# 4. The seeds of the n-gram model, which only break ties, become one instance by vote (`with_one_ngram`).
# 5. and 6., scores and deltas, are in `views.classes`.


# Number of suites -> excluded suites.
SUITES = {"31": ("fgd-embed3", "fgd-embed4", "nn-nv-rpl"), "33": ("nn-nv-rpl",), "34": ()}
VOTES = ("vote", "mean")
# Corpus -> millions of words, as in the paper's regression.
WORDS = {"XS": 1.0, "SM": 4.8, "MD": 14.0, "LG": 42.0}
_BPE = "gptbpe"


def build_study(raw: Raw, suites: str = "31", ngram: str = "vote") -> Study:
    if ngram not in VOTES:
        raise UsageError("ngram", repr(ngram), "one of " + ", ".join(VOTES))
    items = with_one_ngram(of_the_study(with_suites(raw.items, suites)), ngram)
    if not len(items):
        raise InputError("results", "no model of the study", "one of " + ", ".join(LABELS))
    names = [str(suite) for suite in items["suite"].unique(maintain_order=True)]
    circuits = {suite: circuit for suite in names if (circuit := circuit_of(suite))}
    perplexity = of_the_study(raw.perplexity).select(list(PERPLEXITY))
    remarks = (WITHDRAWAL,) if len(items.filter(is_withdrawn())) else ()
    expected = chances_of(raw, names)
    level = sum(expected.values()) / len(names) if len(expected) == len(names) else float("nan")
    published = len(cited("hu2020")["items"]) - len(SUITES[suites])
    return Study(
        items, circuits, perplexity, WORDS, LABELS, level, (WITHDRAWN,), WORD_BY_WORD, remarks, published, expected,
        (WITHDRAWN,), False,
    )  # fmt: skip


def withdrawn() -> set[tuple[str, int]]:
    """Return corpus and seed of the GPT-2 models that the authors withdrew."""
    return {(row["corpus"], row["seed"]) for row in cited("hu2020")["withdrawn"]["instances"]}


def is_withdrawn() -> pl.Expr:
    """Return the condition that a row, with corpora named XS to LG, is of one of them."""
    listed = [{"corpus": corpus, "seed": seed} for corpus, seed in withdrawn()]
    return (pl.col("model") == WITHDRAWN) & pl.struct("corpus", "seed").is_in(listed)


def with_suites(items: pl.DataFrame, suites: str = "31") -> pl.DataFrame:
    if suites not in SUITES:
        raise UsageError("suites", repr(suites), "one of " + ", ".join(SUITES))
    return items.filter(~pl.col("suite").is_in(SUITES[suites]))


def of_the_study(table: pl.DataFrame) -> pl.DataFrame:
    """Keep the models of the study, with corpora renamed XS to LG."""
    # This excludes unigrams, n-gram models that don't break ties, word-level models over byte pairs, and GPT-2 models
    # over words.
    parts = pl.col("corpus").str.split("-")
    pieces = pl.col("corpus").str.ends_with("bpe")
    kept = pl.when(pl.col("model") == "gpt-2").then(pl.col("corpus").str.ends_with(f"-{_BPE}")).otherwise(~pieces)
    size = pl.when(pl.col("corpus") == "").then(pl.lit("")).otherwise(parts.list.get(1, null_on_oob=True))
    chosen = table.filter(kept & ~pl.col("model").is_in(NOT_OF_THE_STUDY))
    return chosen.with_columns(corpus=size.str.to_uppercase())


def with_one_ngram(items: pl.DataFrame, how: str = "vote") -> pl.DataFrame:
    """Combine the seeds of the n-gram model on each corpus into one with seed 0; other models are unchanged."""
    ngram = pl.col("model") == "ngram"
    pooled = (by_vote if how == "vote" else by_mean)(items.filter(ngram))
    return pl.concat([items.filter(~ngram), pooled])


def chances_of(raw: Raw, suites: Sequence[str]) -> dict[str, float]:
    """Return the score of random answers on each suite: suite -> score."""
    # The score comes from the file of random answers if that has all suites. Otherwise it is computed exactly from the
    # suites' first predictions. Suites for which neither is known are not in the result.
    simulated = dict(raw.random.filter(pl.col("suite").is_in(suites)).select("suite", "score").iter_rows())
    if len(simulated) == len(suites):
        return simulated
    known = formulas()
    return {name: chance_level.known(known[name]).value for name in suites if name in known}


def formulas() -> dict[str, Formula]:
    """Return the first prediction of each suite, to which the raw results refer: suite -> formula."""
    return {name: suite.predictions[0].formula for name, suite in bundled().items()}


@cache
def bundled() -> dict[str, Suite]:
    """Return the bundled suites with these names: the paper's predictions on new items."""
    from syntagm.suites import expand, read_suite_file

    return {suite.name: suite for file in expand(["hu2020"]) for suite in read_suite_file(file)}


# If the probability that any two models agree on all items is above this, models with the same answers are not called copies.
BY_CHANCE = 0.001
_CELL = ["model", "corpus"]


def completeness_table(raw: Raw) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (kind, sum(expected.values()), sum(found.values()), "; ".join(remarks))
        for kind, expected, found, remarks in _compared(raw)
    ]
    columns = ("kind", "published", "here", "differences")
    notes = (
        "The seeds of the n-gram model that only break ties count as one model. The answers of the random model are not checked.",
    )
    return Table("Are the data complete?", columns, tuple(rows), (), notes)


def lacking(raw: Raw) -> list[str]:
    """List what the publication has and these data lack, or the reverse; empty if they are complete."""
    return [f"{kind}: {remark}" for kind, _, _, remarks in _compared(raw) for remark in remarks]


def models_like_others(raw: Raw) -> list[str]:
    """List the models that answer every item as another one does, unless two of them may well do so by chance."""
    # Copies look like training runs that agree, and make intervals too narrow.
    items = with_one_ngram(of_the_study(raw.items)).sort(*INSTANCE, "suite", "item")
    right = items.group_by("suite", "item").agg(pl.col("value").mean())["value"]
    # Two models that answer independently, each item as often correctly as all models do.
    agreement = float((right**2 + (1 - right) ** 2).log().sum())
    pairs = comb(items.select(INSTANCE).n_unique(), 2)
    if not pairs or log(pairs) + agreement > log(BY_CHANCE):
        return []
    models: dict[bytes, list[str]] = {}
    for (model, corpus, seed), rows in items.group_by(INSTANCE, maintain_order=True):
        name = f"{label(str(model))} on {corpus}, seed {seed}" if corpus else label(str(model))
        models.setdefault(rows["value"].to_numpy().tobytes(), []).append(name)
    return [f"the same answers: {' = '.join(names)}" for names in models.values() if len(names) > 1]


def _compared(raw: Raw) -> Iterator[tuple[str, Mapping[str, int], Mapping[str, int], list[str]]]:
    """Yield each kind of thing with the published and the present numbers, and how these differ."""
    for kind, expected, found in _kinds(raw):
        yield (
            kind,
            expected,
            found,
            _differences(expected, found) + (models_like_others(raw) if kind == "models" else []),
        )


def _kinds(raw: Raw) -> list[tuple[str, Mapping[str, int], Mapping[str, int]]]:
    """Return each kind of thing with the published and the present numbers: name -> number."""
    published = cited("hu2020")
    items = with_one_ngram(of_the_study(raw.items))
    models = items.select(*_CELL, "seed").unique(maintain_order=True)
    measured = of_the_study(raw.perplexity).select(*_CELL, "seed").unique(maintain_order=True)
    trained = {
        f"{model} on {size}": count for model, sizes in published["trained"].items() for size, count in sizes.items()
    }
    shelf = dict.fromkeys(published["off_the_shelf"], 1)
    present = raw.items.select("suite", "item").unique(maintain_order=True)
    by_suite: dict[str, int] = dict(present.group_by("suite", maintain_order=True).len().iter_rows())
    expected: dict[str, int] = published["items"]
    return [
        ("models", trained | shelf, _count_models(models)),
        ("perplexities", trained, {name: n for name, n in _count_models(measured).items() if name not in shelf}),
        ("suites", dict.fromkeys(expected, 1), dict.fromkeys(by_suite, 1)),
        # Of suites that are missing altogether, the row of suites says so.
        ("items", {suite: n for suite, n in expected.items() if suite in by_suite}, by_suite),
    ]


def _count_models(models: pl.DataFrame) -> dict[str, int]:
    names = [f"{label(model)} on {size}" if size else label(model) for model, size in models.select(_CELL).iter_rows()]
    return dict(Counter(names))


def _differences(expected: Mapping[str, int], found: Mapping[str, int]) -> list[str]:
    """Describe what is missing and what is there in addition, with numbers where only part of it is."""
    absent = [
        _counted_of(name, found.get(name, 0), count) for name, count in expected.items() if found.get(name, 0) < count
    ]
    surplus = [
        _counted_of(name, count, expected.get(name, 0))
        for name, count in found.items()
        if count > expected.get(name, 0)
    ]
    named = (("missing", absent), ("not published", surplus))
    return [f"{text}: {', '.join(names)}" for text, names in named if names]


def _counted_of(name: str, found: int, expected: int) -> str:
    return name if {found, expected} == {0, 1} else f"{name} ({found} of {expected})"
