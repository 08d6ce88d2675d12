"""Reader of the raw data of Hu et al. 2020: `perplexity.csv` and `sg_results/*.csv` of their repository's `data/raw`.

A results file has the columns model, suite, item and correct (True or False). Models are named NAME_CORPUS_SEED, with an empty
corpus for off-the-shelf models. The perplexity file has the columns model, corpus, seed and test_ppl.
Seeds are integers, so 0111 in one file is the same as 111 in another.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from syntagm.core import InputError, csv, utf8
from syntagm.views import INSTANCE

RESULTS = ("model", "suite", "item", "correct")
PERPLEXITIES = ("model", "corpus", "seed", "test_ppl")
PERPLEXITY = {"model": pl.String, "corpus": pl.String, "seed": pl.Int64, "perplexity": pl.Float64}
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
    """Read all results and perplexities of a folder."""
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
