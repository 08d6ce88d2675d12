"""The chapter on fill runs: the measures by suite, by nucleus cut-off and by lemma, with example contexts."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, final

from markupsafe import Markup

from syntagm.report.gaps import evidence, figures, tables
from syntagm.report.gaps.articles import write_article
from syntagm.report.gaps.evidence import Evidence
from syntagm.report.html import isolate, join
from syntagm.report.numbers import Column
from syntagm.report.record import RECORD
from syntagm.report.section import Section, Variables
from syntagm.runs import Run
from syntagm.stats import in_words
from syntagm.views import kept

# Parts of methods that differ from number to number.
_PARTICULAR = re.compile(r"^mean of \d+ suites; |\([\d.e+]+\)")
_ELIGIBLE = {
    "single-token": "rows of which every form is a single token",
    "all": "all rows that the model can score",
}


def _show_overview(chapter: Evidence) -> Variables:
    constructions, several = evidence.constructions(chapter.columns), len(chapter.columns) > 1
    return {
        "constructions": tables.tabulate_estimates(constructions, "construction", several) if constructions else "",
        "suites": tables.tabulate_estimates(chapter.rows, "suite", several),
        "data": evidence.link_estimates(chapter.columns),
    }


def _show_cut_offs(chapter: Evidence) -> Variables:
    cut = figures.select_cut(chapter.columns)
    several = [isolate(column.name) for column in cut if kept.several_tokens(column.run)]
    return {
        "weights": figures.CUT_OFFS[:2],
        "others": figures.CUT_OFFS[2:],
        "several": several,
        "some": join(several, ", ") if len(several) < len(cut) else "",
    }


OVERVIEW: Section[Evidence] = Section("overview", "Overview", template="gaps/overview.html", show=_show_overview)
CUT_OFFS: Section[Evidence] = Section(
    "cut-offs",
    "Nucleus cut-offs",
    template="gaps/cut_offs.html",
    when=lambda chapter: figures.select_cut(chapter.columns),
    figures=lambda chapter, saved: figures.draw_cut_offs(chapter.columns, saved),
    show=_show_cut_offs,
)
BANDS: Section[Evidence] = Section(
    "bands",
    "By frequency",
    template="gaps/bands.html",
    when=lambda chapter: chapter.band_rows,
    figures=lambda chapter, saved: [figures.draw_bands(chapter.columns, chapter.band_rows, saved)],
    show=lambda chapter: {
        "table": tables.tabulate_bands(chapter.bands, len(chapter.columns) > 1) if chapter.bands else ""
    },
)


def _show_suites(chapter: Evidence) -> Variables:
    return {
        "suites": list(map(write_article, chapter.suites)),
        "above": OVERVIEW.anchor,
        "above_name": "overview",
        "body": "gaps/suite.html",
        "several_labels": any(len(column.run.record["options"]["words"]["labels"]) > 2 for column in chapter.columns),
        "seed": evidence.SEED,
    }


SUITE_BY_SUITE: Section[Evidence] = Section(
    "suite-by-suite", "Suite by suite", template="gaps/suites.html", show=_show_suites, versions=evidence.VERSIONS
)


def _show_methods(chapter: Evidence) -> Variables:
    shown = [
        *(estimate for row in chapter.rows for estimate in row.estimates.values()),
        *(band.equal_weight for band in chapter.bands),
    ]
    lists = _list_word_lists(chapter.columns)
    return {
        "shared": chapter.shared,
        "eligible": join(map(_say_eligible, chapter.columns), "; "),
        "over_suites": in_words.over_suites(),
        "methods": sorted({_PARTICULAR.sub("", estimate.design) for estimate in shown}),
        "lists": lists,
        "several_lists": len(lists) > 1,
    }


def _say_eligible(column: Column[Run]) -> Markup:
    eligible = column.run.record["options"]["eligible"]
    several = ", including words of several tokens" if kept.several_tokens(column.run) else ""
    return Markup("%s: %s%s") % (isolate(column.name), _ELIGIBLE[eligible], several)


def _list_word_lists(columns: Sequence[Column[Run]]) -> list[Mapping[str, Any]]:
    """Return the word lists: name, hash, labels, rows, remarks, and the names of the columns that used them."""
    by_hash: dict[str, dict[str, Any]] = {}
    for column in columns:
        words = column.run.record["options"]["words"]
        word_list = by_hash.setdefault(
            words["hash"], words | {"remarks": column.run.record.get("remarks", []), "models": []}
        )
        word_list["models"].append(column.name)
    return list(by_hash.values())


METHODS: Section[Evidence] = Section(
    "methods", "How the numbers were made", template="gaps/how.html", show=_show_methods
)


@final
class Gaps(Evidence):
    """A chapter on fill runs."""

    def list_sections(self) -> Sequence[Section[Any]]:
        """Return the records of all sections, in the order of the page."""
        return [OVERVIEW, CUT_OFFS, BANDS, SUITE_BY_SUITE, METHODS, RECORD]
