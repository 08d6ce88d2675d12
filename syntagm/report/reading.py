"""The chapter on analyses of reading times, alone or below a report of runs."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from markupsafe import Markup

from syntagm.core import extras
from syntagm.reading_times import EFFECTS, Analysis, cited, gain, lag, ms, shape
from syntagm.report import methods, references
from syntagm.report.chapter import Alert, Chapter
from syntagm.report.html import isolate
from syntagm.report.section import Drawing, Section, Variables
from syntagm.views import Cell, Table


class ReadingTimes(Chapter):
    header: ClassVar[str] = "reading/header.html"
    intro: ClassVar[str] = "reading/intro.html"
    title: ClassVar[str] = "Reading times and surprisal"

    def __init__(self, analyses: Sequence[Analysis]) -> None:
        self.columns, self.subjects = (), ()
        self.analyses = analyses

    def having(self, part: str) -> list[Analysis]:
        return [one for one in self.analyses if one.content["results"].get(part)]

    @property
    def effects(self) -> list[Analysis]:
        return [one for one in self.analyses if one.command == EFFECTS]

    def alerts(self) -> list[Alert]:
        """Return the alarms that ring for the tables of the analyses, and the rows that were left out."""
        found = []
        for one in self.analyses:
            for alarm in one.content["alarms"]:
                said = alarm["code"], isolate(one.name), alarm["message"], alarm["cure"]
                found.append(Alert(Markup("<b>Alarm %s</b> for %s: %s. %s") % said, mild=False))
            if dropped := one.content["dropped"]:
                reasons = "; ".join(f"{count:,} {reason}" for reason, count in dropped.items())
                content = Markup("<b>%s of %s rows left out</b> of %s: %s.")
                values = f"{sum(dropped.values()):,}", f"{one.content['rows']:,}", isolate(one.name), reasons
                found.append(Alert(content % values))
        return found

    def list_sections(self) -> Sequence[Section[Any]]:
        return [GAIN, PAIRS, LAG, SHAPE, MS, READ]


def _draw_gain(chapter: ReadingTimes, saved: bool) -> Iterator[Drawing]:
    caption = "The further up, the better the model predicts reading times that it was not fitted on; the dashed line is none."
    yield Drawing("reading_gain", gain.draw_figure(chapter.having("gains")), "Figure: gains of surprisal", caption)


def _draw_lag(chapter: ReadingTimes, saved: bool) -> Iterator[Drawing]:
    caption = (
        "Spillover goes to later words. An effect of the next word (-1) above that of the word before (1) is a sign that times "
        "belong to another word than they stand at."
    )
    yield Drawing("reading_lag", lag.draw_figure(chapter.having("lag")), "Figure: effects by lag", caption)


def _draw_shape(chapter: ReadingTimes, saved: bool) -> Iterator[Drawing]:
    caption = "A straight line means that each further bit costs the same."
    yield Drawing("reading_shape", shape.draw_figure(chapter.having("shape")), "Figure: shape of the effect", caption)


def _draw_ms(chapter: ReadingTimes, saved: bool) -> Iterator[Drawing]:
    drawn = [one for one in chapter.effects if "item" not in one.frame.columns]
    if drawn:
        caption = "If surprisal explains the effect of people, both dots of a region are at one place."
        yield Drawing("reading_ms", ms.draw_figure(drawn), "Figure: effects in ms", caption)


def _inputs(chapter: ReadingTimes) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (one.name, one.command, name, digest[:12], one.content["rows"], sum(one.content["dropped"].values()))
        for one in chapter.analyses
        for name, digest in one.content["inputs"].items()
    ]
    columns = ("analysis", "command", "file", "sha256", "rows", "left out")
    notes = tuple(f"{one.name}: {note}" for one in chapter.analyses for note in one.content["notes"])
    return Table("What was read", columns, tuple(rows), notes=notes)


def _show_read(chapter: ReadingTimes) -> Variables:
    paragraphs = [methods.paragraph_html(one.methods) for one in chapter.analyses if one.methods]
    return {
        "paragraphs": paragraphs,
        "bibliography": references.bibtex(cited(chapter.analyses), [], extras.version("syntagm")),
        "records": [
            (one.name, one.command, json.dumps(one.content, indent=2, ensure_ascii=False)) for one in chapter.analyses
        ],
    }


GAIN: Section[ReadingTimes] = Section(
    "reading-gain",
    "Gain of surprisal",
    "How much more probable held-out reading times are with surprisal than without it, in nats per observation.",
    when=lambda chapter: chapter.having("gains"),
    figures=_draw_gain,
    table=lambda chapter: gain.make_table(chapter.having("gains")),
)
PAIRS: Section[ReadingTimes] = Section(
    "reading-pairs",
    "Models compared by gain",
    when=lambda chapter: chapter.having("differences"),
    table=lambda chapter: gain.make_table(chapter.having("differences"), pairs=True),
)
LAG: Section[ReadingTimes] = Section(
    "reading-lag",
    "Effects by lag",
    when=lambda chapter: chapter.having("lag"),
    figures=_draw_lag,
    table=lambda chapter: lag.make_table(chapter.having("lag")),
)
SHAPE: Section[ReadingTimes] = Section(
    "reading-shape",
    "Shape of the effect",
    template="reading/shape.html",
    when=lambda chapter: chapter.having("shape"),
    figures=_draw_shape,
    show=lambda chapter: {"remarks": shape.notes(chapter.having("shape"))},
)
MS: Section[ReadingTimes] = Section(
    "reading-ms",
    "Effects in milliseconds",
    "The effects of suites that surprisal predicts, from what a bit costs on the corpus, beside those of people.",
    when=lambda chapter: chapter.effects,
    figures=_draw_ms,
    table=lambda chapter: ms.make_table(chapter.effects),
)
READ: Section[ReadingTimes] = Section(
    "reading-record",
    "Reading times: what was read, and methods",
    template="reading/record.html",
    table=_inputs,
    show=_show_read,
)
