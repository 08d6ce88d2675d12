"""The data of the figures of Hu et al. 2020: scores of model instances, from raw data, runs or an experiment.

An instance either belongs to a model class that was trained for the study, on corpora of several sizes and with several
seeds, or is an off-the-shelf model, which has no corpus.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum, nan
from typing import Any

import polars as pl

from syntagm.core import RunError, counted, span
from syntagm.evaluation import chance_level
from syntagm.papers.experiment.design import Cell
from syntagm.runs import Run, named
from syntagm.stats import score
from syntagm.suites import Suite
from syntagm.training import families
from syntagm.views import classes, estimates


@dataclass(frozen=True, slots=True)
class ModelClass:
    name: str  # the name of the class in the raw data
    label: str  # the name of the class in the paper
    neural: bool = True  # whether it is a neural network
    whole_words: bool = False  # whether it is a neural model over whole words; perplexities can be compared among these
    pretrained: bool = False  # whether it is a large transformer that others trained on much more text


MODELS = (
    ModelClass("vanilla", "LSTM", whole_words=True),
    ModelClass("ordered-neurons", "ON-LSTM", whole_words=True),
    ModelClass("rnng", "RNNG", whole_words=True),
    ModelClass("gpt-2", "GPT-2"),
    ModelClass("ngram", "n-gram", neural=False),
    ModelClass("grnn", "GRNN"),
    ModelClass("jrnn", "JRNN"),
    ModelClass("transformer-xl", "Transformer-XL"),
    ModelClass("gpt-2-pretrained", "GPT-2, pre-trained", pretrained=True),
    ModelClass("gpt-2-xl-pretrained", "GPT-2-XL, pre-trained", pretrained=True),
)
LABELS = {model.name: model.label for model in MODELS}
NEURAL = tuple(model.name for model in MODELS if model.neural)
WORD_BY_WORD = tuple(model.name for model in MODELS if model.whole_words)
PRETRAINED = tuple(model.name for model in MODELS if model.pretrained)
# These are in the raw data but not in the study: a unigram, and an n-gram model whose ties are not broken.
NOT_OF_THE_STUDY = ("1gram", "ngram-no-rand")
# Excluded from the figures by corpus, because the authors withdrew two of these models.
WITHDRAWN = "gpt-2"
WITHDRAWAL = "GPT-2: the authors later withdrew the models trained on MD and LG"
# The names of two classes, in the raw data and in experiments of our own.
ALL_NGRAMS = families.kin("ngram")
ALL_GPT2 = ("gpt-2", *families.kin("gpt2"))
# Family of an experiment -> the class of the publication.
CLASSES = {"lstm": "vanilla", "onlstm": "ordered-neurons", "gpt2": WITHDRAWN}


def label(model: str) -> str:
    """Return the name of a model in the paper.

    >>> label("vanilla"), label("toy")
    ('LSTM', 'toy')
    """
    return LABELS.get(model, model)


_SHOWN = 3
PERPLEXITY = {"model": pl.String, "corpus": pl.String, "seed": pl.Int64, "perplexity": pl.Float64}


class Missing(Exception):
    """Data lack a model, a corpus, suites or a fit that a claim is about; the message says which."""

    # This is no LookupError: an index or a key that is missing by mistake would be shown as missing data.


@dataclass(frozen=True, slots=True)
class Study:
    """Model instances and their scores."""

    # The results on items of the included suites, with the columns of `views.classes.ITEM`; corpus is empty for
    # off-the-shelf models.
    items: pl.DataFrame
    circuits: Mapping[str, str]  # suite -> circuit, for suites that have one
    perplexity: pl.DataFrame  # a table with the columns model, corpus, seed and perplexity; may be empty
    # Corpus -> millions of words, in ascending order, which is also the order of corpora in figures.
    words: Mapping[str, float]
    labels: Mapping[str, str] = field(default_factory=dict)  # model -> label
    chance: float = float("nan")  # the chance level over the suites; nan if unknown
    absent: tuple[str, ...] = ()  # the models that the published figures by corpus exclude
    words_alike: tuple[str, ...] = ()  # the neural models over whole words, whose perplexities can be compared
    remarks: tuple[str, ...] = ()  # lines below the title of every figure by model
    published: int = 0  # the number of suites in the publication; 0 if the study is of other data
    # Suite -> score of random answers, for suites for which it is known.
    chances: Mapping[str, float] = field(default_factory=dict)
    # The models whose perplexities can't be compared with those of `words_alike`, or of all others.
    unlike: tuple[str, ...] = ()
    sizes_alike: bool = True  # whether the perplexities of `words_alike` can be compared between corpora

    def label(self, model: str) -> str:
        return self.labels.get(model, model)

    @property
    def suites(self) -> list[str]:
        """The suites, in the order of first appearance."""
        return [str(name) for name in self.items["suite"].unique(maintain_order=True)]

    @property
    def counted(self) -> str:
        """The number of suites as text: "31 suites", or "30 of 31 suites" if some of the publication's are missing."""
        # If models have different ones: "5 to 7 suites, each model's own".
        count, own = len(self.suites), set(self.own.values())
        if len(own) > 1:
            return f"{span([len(suites) for suites in own], 'suite')}, each model's own"
        if count < self.published:
            return f"{count} of {self.published} suites"
        return counted(count, "suite")

    @property
    def own(self) -> dict[str, frozenset[str]]:
        """The suites of each model, by its label."""
        suites = self.items.group_by("model", maintain_order=True).agg(pl.col("suite").unique())
        return {self.label(model): frozenset(names) for model, names in suites.iter_rows()}

    @property
    def levels(self) -> Mapping[str, float] | float:
        """The chance level, or label -> that over the suites of each model if these differ; nan if unknown."""
        # The order of a set differs from process to process, and with it the last digits of a plain sum.
        levels = {
            name: fsum(self.chances.get(suite, nan) for suite in own) / len(own) for name, own in self.own.items()
        }
        return levels if len(set(self.own.values())) > 1 else self.chance

    def scores(self) -> pl.DataFrame:
        """Return the suite scores, one row per instance and suite; see `views.classes.suite_scores`."""
        return classes.suite_scores(self.items)

    def deltas(self) -> pl.DataFrame:
        """Return the suite scores of the models that have a corpus, with their deltas."""
        return classes.score_deltas(self.scores().filter(pl.col("corpus") != ""))

    def instances(self) -> pl.DataFrame:
        """Return the instances, with the columns model, corpus, seed, score, suites, perplexity (null if unknown) and words."""
        scores = classes.over_suites(self.scores())
        joined = scores.join(self.perplexity, on=list(classes.INSTANCE), how="left", maintain_order="left")
        sizes = {"corpus": list(self.words), "words": [float(words) for words in self.words.values()]}
        table = pl.DataFrame(sizes, schema={"corpus": pl.String, "words": pl.Float64})
        return joined.join(table, on="corpus", how="left", maintain_order="left")

    @property
    def mixed(self) -> tuple[str, ...]:
        """Lines that say which perplexities can't be compared; none if all can."""
        names = ", ".join(self.label(model) for model in self.unlike if model in self.perplexity["model"])
        line = f"Perplexities over other units or vocabularies, not comparable with the rest: {names}."
        sizes = "Perplexities over words are not comparable between corpora, whose vocabularies differ."
        return (*([line] if names else ()), *(() if self.sizes_alike else [sizes]))

    def as_published(self) -> "Study":
        """Return the same study with the families of an experiment named like the classes of the publication."""
        names = pl.col("model").replace(CLASSES)
        items, perplexity = (table.with_columns(names) for table in (self.items, self.perplexity))
        alike, unlike = (tuple(CLASSES.get(name, name) for name in group) for group in (self.words_alike, self.unlike))
        return replace(self, items=items, perplexity=perplexity, words_alike=alike, unlike=unlike)


def of_runs(runs: Sequence[Run], aside: Sequence[str] = ()) -> Study:
    """Build a study of off-the-shelf models, one run per model; models with the same name are numbered."""
    names: dict[str, str] = {}
    tables = []
    for run in runs:
        if not run.task.conjoins:
            raise RunError(run.place, f"a run of the task {run.task.name}", "a run of the task predictions")
    for number, (name, run) in enumerate(named(runs), 1):
        names[model := f"{number}: {run.model}"] = name
        tables.append(_items(run, model, "", 0))
    study = _study(runs, tables, aside, pl.DataFrame(schema=PERPLEXITY), {}, names)
    return replace(study, remarks=_unequal(study, dict(zip(names, runs, strict=True))))


def _unequal(study: Study, runs: Mapping[str, Run]) -> tuple[str, ...]:
    """Explain why the scores of some models are not based on the same items."""
    present, suites = {label: len(own) for label, own in study.own.items()}, set(study.suites)
    short = [f"{label}: {count}" for label in map(study.label, runs) if (count := present.get(label, 0)) < len(suites)]
    unfinished = [study.label(model) for model, run in runs.items() if not run.done]
    hashes: dict[str, set[str]] = {}
    for suite in (suite for run in runs.values() for suite in run.suites if suite.name in suites):
        hashes.setdefault(suite.name, set()).add(suite.hash)
    differing = [name for name, content in hashes.items() if len(content) > 1]
    lines = {
        f"number of suites below {len(suites)}": short,
        "not finished": unfinished,
        "items differ between runs": differing,
    }
    return tuple(f"{line}: {_some(names)}" for line, names in lines.items() if names)


def _some(names: Sequence[str]) -> str:
    """List the first few names and count the rest.

    >>> _some(["a", "b", "c", "d", "e"])
    'a, b, c, and 2 more'
    """
    return ", ".join(names[:_SHOWN]) + (f", and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


def of_experiment(
    finished: Iterable[tuple[Mapping[str, Any], Run]], words: Mapping[str, float], aside: Sequence[str] = ()
) -> Study:
    # With several samples of the corpus, the seed of an instance is its number among those of its family and size.
    pairs = _numbered(list(finished))
    tables = [_items(run, model["family"], model["size"], model["seed"]) for model, run in pairs]
    rows = [(model["family"], model["size"], model["seed"], float(model["perplexity"])) for model, _ in pairs]
    perplexity = pl.DataFrame(rows, schema=PERPLEXITY, orient="row").filter(pl.col("perplexity").is_finite())
    ordered = dict(sorted(words.items(), key=lambda pair: pair[1]))
    study = _study([run for _, run in pairs], tables, aside, perplexity, ordered, {})
    words_alike, unlike = comparable([model for model, _ in pairs])
    counts = {(model["unknown"], model["undefined"]) for model, _ in pairs if model["family"] in words_alike}
    return replace(study, words_alike=words_alike, unlike=unlike, sizes_alike=len(counts) < 2)


def comparable(models: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the largest set of neural families over whole words with comparable perplexities, and the families unlike these.

    Perplexities are comparable if on each corpus, equally many words of the test text are unknown, and undefined.

    Arguments:
        models: records of models as in `of_experiment`.

    >>> counts = {"ngram": 9, "gpt2": 0, "lstm": 9, "rnng": 9, "gpt2-words": 7}
    >>> comparable([{"family": name, "size": "xs", "unknown": count, "undefined": 0} for name, count in counts.items()])
    (('lstm', 'rnng'), ('gpt2', 'gpt2-words'))
    """
    counts: dict[str, dict[tuple[str, int], tuple[int, int]]] = {}
    for model in models:
        part = model["size"], model.get("sample", 1)
        counts.setdefault(model["family"], {})[part] = model["unknown"], model["undefined"]

    def alike(first: str, second: str) -> bool:
        shared = counts[first].keys() & counts[second].keys()
        return bool(shared) and all(counts[first][part] == counts[second][part] for part in shared)

    # Over byte pairs, no word is unknown.
    pieces = [name for name, parts in counts.items() if name in ALL_GPT2 and not any(n for n, _ in parts.values())]
    neural = [name for name in counts if name not in (*ALL_NGRAMS, *pieces)]
    largest = max((tuple(other for other in neural if alike(name, other)) for name in neural), key=len, default=())
    return largest, tuple(name for name in counts if not alike(name, (largest or tuple(counts))[0]))


def planned(cells: Iterable[Cell], suites: Iterable[Suite], words: Mapping[str, float], aside: Sequence[str]) -> Study:
    """Build the study that an experiment will be, with made-up results: of two items, the second is correct."""
    included = [suite for suite in suites if suite.predictions and suite.name not in aside]
    seeds: Counter[tuple[str, str]] = Counter()
    rows = []
    for cell in cells:
        seeds[cell.family, cell.size] += 1
        instance = cell.family, cell.size, seeds[cell.family, cell.size]
        for suite in included:
            rows += [(*instance, suite.name, item.id, float(index % 2)) for index, item in enumerate(suite.items)]
    items = pl.DataFrame(rows, schema=classes.ITEM, orient="row")
    circuits = {suite.name: suite.tags["circuit"] for suite in included if "circuit" in suite.tags}
    return Study(items, circuits, pl.DataFrame(), dict(sorted(words.items(), key=lambda pair: pair[1])))


def _numbered(finished: Sequence[tuple[Mapping[str, Any], Run]]) -> list[tuple[Mapping[str, Any], Run]]:
    """Number the models of a family and size if there are several samples of the corpus, which may share seeds."""
    if all(model.get("sample", 1) == 1 for model, _ in finished):
        return list(finished)
    counts: Counter[tuple[str, str]] = Counter()
    numbered: list[tuple[Mapping[str, Any], Run]] = []
    for model, run in finished:
        counts[cell := (model["family"], model["size"])] += 1
        numbered.append(({**model, "seed": counts[cell]}, run))
    return numbered


def _study(
    runs: Sequence[Run], tables: Sequence[pl.DataFrame], aside: Sequence[str], perplexity: pl.DataFrame,
    words: Mapping[str, float], labels: Mapping[str, str],
) -> Study:  # fmt: skip
    items = pl.concat([pl.DataFrame(schema=classes.ITEM), *tables]).filter(~pl.col("suite").is_in(list(aside)))
    if not len(items):
        place, cure = runs[0].place if runs else "runs", "Run the collection hu2020."
        raise RunError(place, "no results on included suites", "results of suites with predictions", cure)
    present = set(items["suite"])
    counted = {suite.name: suite for run in runs for suite in run.suites if suite.name in present}
    circuits = {name: suite.tags["circuit"] for name, suite in counted.items() if "circuit" in suite.tags}
    expected = {name: estimates.chance_of_suite(suite, "first") for name, suite in counted.items()}
    chances = {name: of_suite.value for name, of_suite in expected.items() if of_suite.value == of_suite.value}
    level = chance_level.mean(list(expected.values())).value
    return Study(items, circuits, perplexity, words, labels, level, chances=chances)


def _items(run: Run, model: str, corpus: str, seed: int) -> pl.DataFrame:
    """Return the verdicts of the suites' first predictions."""
    rows = score.verdicts(run.results(), estimates.predictions(run, "first"), "first")
    return rows.select(
        pl.lit(model).alias("model"), pl.lit(corpus).alias("corpus"), pl.lit(seed, pl.Int64).alias("seed"), "suite",
        "item", "value",
    )  # fmt: skip
