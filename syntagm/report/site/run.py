"""The page of a run: its model, its settings and record, the signature of each number, and the state of its files."""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from itertools import takewhile
from typing import Any

from markupsafe import Markup

from syntagm.core import integrity
from syntagm.report.chapter import Alert, list_reasons, note_unknown, warn_unfinished
from syntagm.report.html import HtmlTable, classes, heading, isolate, row, row_heading, text_cell
from syntagm.report.numbers import Column, Subject
from syntagm.report.section import Data, Section, Variables
from syntagm.report.site.addresses import Addresses
from syntagm.report.site.pages import OnePage
from syntagm.runs import Run


class RunPage(OnePage):
    def __init__(self, column: Column[Run], subjects: Sequence[Subject[Run]], addresses: Addresses) -> None:
        self.column, self.run, self.subjects, self.addresses = column, column.run, subjects, addresses
        self.place, self.title = ("run", column.name), f"Run of {column.name}"

    @cached_property
    def signatures(self) -> list[tuple[str, str, str]]:
        """Suite, measure and signature of each number."""
        return [
            (subject.name, measure, str(self.run.signature(subject.name, measure)))
            for subject in self.subjects
            if any(column is self.column for column in subject.columns)
            for measure in subject.record.predictions
        ]

    def list_sections(self) -> Sequence[Section[Any]]:
        return [SETTINGS, SIGNATURES, UNDEFINED, FILES, RECORD]

    def alerts(self) -> list[Alert]:
        return [*warn_unfinished(self.column, f"of {self.column.items:,} items"), *note_unknown(self.column)]


def _facts(page: RunPage) -> list[tuple[str, str]]:
    record = page.run.record
    model, versions = record["model"], record["versions"]
    facts = [
        ("model", page.run.model),
        ("fingerprint", model["fingerprint"]),
        ("sees", model["sees"]),
        ("start symbol", str(model["start"]) if model["start"] is not None else "none"),
        ("end symbol", str(model["end"]) if model["end"] is not None else "none"),
        *((f"scoring: {name}", str(value)) for name, value in model["policies"].items()),
        ("task", record["task"]),
        *((f"option: {name}", str(value)) for name, value in record["options"].items() if not isinstance(value, dict)),
        ("status", "done" if page.run.done else f"{record['status']}, not finished"),
        ("started", record["started"]),
        ("finished", record["finished"] or "not yet"),
        *((name, str(value)) for name, value in versions.items()),
        ("command", record["command"]),
    ]
    return [(name, value) for name, value in facts if value]


SETTINGS: Section[RunPage] = Section(
    "settings",
    "Settings",
    template="site/facts.html",
    data=Data("settings", "the settings", lambda page: (("setting", "value"), _facts(page))),
    show=lambda page: {"facts": _facts(page)},
)


def _show_signatures(page: RunPage) -> Variables:
    by_name = {subject.name: subject for subject in page.subjects}
    signatures = [signature for *_, signature in page.signatures]
    # What all have in common is said once: rows that are read beside each other show where they differ.
    parts = zip(*(signature.split("|") for signature in signatures), strict=False)
    alike = list(takewhile(lambda found: len(set(found)) == 1, parts)) if len(signatures) > 1 else []
    shared = "|".join(found[0] for found in alike)
    rows = [
        row(
            row_heading(_link(page, by_name[suite])),
            text_cell(isolate(measure, False)),
            text_cell(Markup("<code>%s</code>") % _after(signature, shared)),
        )
        for suite, measure, signature in page.signatures
    ]
    names = [heading("suite"), heading("measure"), heading("signature")]
    begins = Markup(" All begin with <code>%s</code>, and go on as the table says.") % shared if shared else ""
    return {
        "caption": Markup(SIGNATURES.caption) + begins,
        "table": HtmlTable("Signatures", names, rows, classes(sortable=True, filterable=True, signatures=True)),
    }


def _after(signature: str, shared: str) -> Markup:
    """Return a signature without what all have in common, with places where it may break."""
    shown = Markup("<wbr>|").join(signature.removeprefix(f"{shared}|" if shared else "").split("|"))
    return Markup("\u2026|%s") % shown if shared else shown


def _link(page: RunPage, subject: Subject[Run]) -> Markup:
    url, name = page.links.suite(subject), isolate(subject.name)
    return Markup('<a href="%s">%s</a>') % (url, name) if url else name


SIGNATURES: Section[RunPage] = Section(
    "signatures",
    "Signatures",
    "A signature names everything that a number depends on.",
    template="site/table.html",
    when=lambda page: page.signatures,
    data=Data("signatures", "the signatures", lambda page: (("suite", "measure", "signature"), page.signatures)),
    show=_show_signatures,
)
UNDEFINED: Section[RunPage] = Section(
    "undefined",
    "Undefined values",
    template="site/lead.html",
    when=lambda page: page.run.undefined,
    show=lambda page: {"content": list_reasons(page.run.undefined)},
)


def _show_files(page: RunPage) -> Variables:
    assert page.run.root, "the section needs a folder"
    findings = [finding for inspected in integrity.of_folder(page.run.root) for finding in inspected.findings]
    counts = Counter(finding.state for finding in findings)
    faulty = [finding for finding in findings if finding.state in ("damaged", "foreign")]
    rows = [
        row(row_heading(isolate(finding.path.name)), text_cell(finding.state), text_cell(str(finding.error or "")))
        for finding in faulty
    ]
    return {
        "content": Markup("%s. <code>syntagm integrity</code> lists every file.")
        % ", ".join(f"{count:,} {_STATES[state]}" for state, count in sorted(counts.items())),
        "table": HtmlTable("Files", [heading("file"), heading("state"), heading("what is wrong")], rows)
        if rows
        else "",
    }


_STATES = {
    "whole": "as they were written",
    "damaged": "damaged",
    "foreign": "of other programs",
    "unchecked": "that no number depends on",
}
FILES: Section[RunPage] = Section(
    "files", "Files", template="site/files.html", when=lambda page: page.run.root, show=_show_files
)
RECORD: Section[RunPage] = Section(
    "record", "Record", template="site/record.html", show=lambda page: {"record": page.column.record}
)
