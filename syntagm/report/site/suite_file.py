"""Suites made from the sentences of a run, and those of selected items in SyntaxGym's format."""

import json
import tempfile
from pathlib import Path

import polars as pl

from syntagm.core import regular
from syntagm.evaluation import SuiteRecord
from syntagm.report.site.suite import SuitePage
from syntagm.stats import matching
from syntagm.suites import Item, Prediction, Region, Sentence, Suite, parse, syntaxgym


def suite_file(page: SuitePage) -> bytes:
    """Return a suite of the selected items, in SyntaxGym's format."""
    chosen = page.selected.select("item", matching.OCCURRENCE)
    suite = suite_of(page.subject.record, max(page.sentences, key=len), chosen)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "suite.json"
        syntaxgym.write([suite], path)
        return regular.content(path)


def suite_of(record: SuiteRecord, sentences_of_run: pl.DataFrame, chosen: pl.DataFrame | None = None) -> Suite:
    """Make a suite from the record and the sentences that a run has of it."""
    numbered = matching.numbered(sentences_of_run, "condition")
    if chosen is None:
        chosen = numbered.select("item", matching.OCCURRENCE).unique(maintain_order=True)
    chosen = chosen.with_row_index("place")
    sentences: dict[int, dict[str, Sentence]] = {}
    tags: dict[int, tuple[str, dict[str, str]]] = {}
    rows = chosen.join(numbered, on=["item", matching.OCCURRENCE], maintain_order="left_right")
    for found in rows.iter_rows(named=True):
        spans = zip(found["region_names"], found["region_starts"], found["region_ends"], strict=True)
        sentence = Sentence(found["text"], tuple(Region(*span) for span in spans))
        sentences.setdefault(found["place"], {})[found["condition"]] = sentence
        tags[found["place"]] = found["item"], json.loads(found["tags"])
    items = tuple(Item(tags[place][0], sentences[place], tags[place][1]) for place in sentences)
    predictions = tuple(Prediction(name, parse(text)) for name, text in record.predictions.items() if text)
    labels = {f"region.{name}": label for name, label in record.region_labels.items()}
    return Suite(record.name, items, predictions, {**labels, **record.tags}, record.aggregate)
