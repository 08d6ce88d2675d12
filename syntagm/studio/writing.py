"""Writing suites: one form, whose state is the text of the suite, and which works without scripts.

Every button sends the text, its name, and the digest of the version that the editor began with; what is answered is the
same page with the text as it came, and with what was asked for: the findings of `check`, a preview, a prediction more, the
other version if somebody else has saved.
"""

import json
import tempfile
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from starlette.responses import Response

from syntagm.core import (
    FormulaError,
    InputError,
    RunError,
    SyntagmError,
    UsageError,
    atomic,
    counted,
    regular,
    shown,
    whole,
)
from syntagm.experiment import designs, make
from syntagm.report import Asked, Missing, Route, content, download, formula_in_words, moved
from syntagm.studio import drafts, frame
from syntagm.studio.frame import PAGES, Raw, Ways
from syntagm.studio.jobs import Jobs
from syntagm.studio.library import Library
from syntagm.studio.store import Conflict, Document, Store, digest_of
from syntagm.suites import Finding, Prediction, convert, writable
from syntagm.views import read_file

# CodeMirror in one file, which `npm run build` in `pages` makes when the package is built. Without it, templates are edited
# in a plain field.
EDITOR = PAGES / "lib" / "editor.js"


def has_editor() -> bool:
    return EDITOR.is_file()


EXPERIMENTS = "experiments"
# What is shown of findings; the endings of files that are opened; the designs that need no model.
_FINDINGS = 200
_OPENED = (".tsv", ".csv", ".json", ".jsonl", ".toml")
_DESIGNS = ("forced-choice", "acceptability", "yes-no", "magnitude", "self-paced")
_RELATIONS = {"<": "is less surprising", ">": "is more surprising", "=": "is as surprising"}
# The fields of the form besides the suite. They keep what was chosen; those of the builder until a prediction is added.
_CONDITIONS = ("first", "second", "third", "fourth")
_BUILDER = ("prediction", "region", "relation", *_CONDITIONS, "formula")
_OTHERS = ("model", "beside", "limit", "design", "people")
# The fields that are typed into, with what they begin with.
_TYPED = {"prediction": "", "formula": "", "limit": "", "people": "24"}


class Writing:
    """The pages on which suites are written."""

    def __init__(self, store: Store, library: Library, jobs: Jobs, ways: Ways) -> None:
        self.store, self.library, self.jobs, self.ways = store, library, jobs, ways

    def routes(self) -> list[Route]:
        bundle = [Route("/editor.js", lambda asked: content(regular.content(EDITOR), "text/javascript"), "open")]
        return [
            *(bundle if has_editor() else ()),
            Route("/write", self.overview),
            Route("/write", self.act, methods=("POST",)),
            Route("/write/check", self.check, methods=("POST",)),
            Route("/write/open", self.open, methods=("POST",)),
            Route("/write/{name}", self.edit),
            Route("/write/{name}/digest", self.digest),
            Route("/write/{name}/export", self.export),
            Route("/write/{name}/version/{number}", self.version),
            Route("/write/{name}/experiment/{design}", self.made),
        ]

    def overview(self, asked: Asked) -> Response:
        """List the suites, or begin a new one."""
        if (kind := asked.field("new")) in ("table", "template"):
            text = drafts.EMPTY if kind == "table" else drafts.EMPTY_TEMPLATE
            ending = drafts.TABLE if kind == "table" else drafts.TEMPLATE
            return self._page("", ending, text, "", unsaved=False)
        if copied := asked.field("copy"):
            text = drafts.text_of(self.library.suite(copied))
            return self._page("", drafts.TABLE, text, "", unsaved=False)
        suites = [(name, self.store.versions(name)) for name in self.store.names()]
        variables = {
            "suites": [(name, len(own), _when(own[0].when) if own else "") for name, own in suites],
            "named": [*self.library.named],
            "folder": str(self.store.folder),
            "endings": ",".join(_OPENED),
        }
        return frame.respond(self.ways, "/write", "write.html", "Write a suite", variables)

    def edit(self, asked: Asked) -> Response:
        """Show a suite in the editor; with `?version=N`, as that version has it."""
        name = asked.names["name"]
        document = self._read(name)
        text = document.text
        if number := asked.field("version"):
            text = self.store.version(name, whole("version", number, least=1)).text
        said = (
            "Saved." if asked.field("saved") else f"This is version {number}; save to return to it." if number else ""
        )
        return self._page(name, Path(name).suffix, text, document.digest, was=name, said=said, unsaved=False)

    def act(self, asked: Asked) -> Response:
        """Do what a button of the editor asks, and show the editor again."""
        form = asked.form()
        text = form.get("text", "").replace("\r\n", "\n")
        ending = form.get("ending", drafts.TABLE)
        if ending not in (drafts.TABLE, drafts.TEMPLATE):
            raise UsageError("ending", repr(ending[:20]), f"{drafts.TABLE} or {drafts.TEMPLATE}")
        typed, was, base = form.get("name", "").strip(), form.get("was", ""), form.get("base", "")
        name = typed if typed.endswith(ending) else typed + ending if typed else ""
        action, kept = form.get("do", "check"), {field: form[field] for field in (*_BUILDER, *_OTHERS) if field in form}
        # Under another name it is another suite, which may exist.
        seen = base if name == was or not was else ""
        try:
            if dropped := form.get("drop"):
                text = drafts.without_prediction(text, _named(name, ending), dropped)
            elif action == "predict":
                text = drafts.with_prediction(text, _named(name, ending), _predicted(form))
                kept = {field: value for field, value in kept.items() if field in _OTHERS}
            elif action in ("items", "sentences"):
                text = drafts.layout(text, _named(name, ending), action == "items")
            elif action in ("save", "score", "experiment"):
                document = self._saved(name, text, seen)
                if action == "score":
                    return moved(f"/jobs/{self._scored(document, form)}")
                if action == "experiment":
                    return moved(f"/write/{quote(name)}/experiment/{self._experiment(document, form)}")
                return moved(f"/write/{quote(name)}?saved=1")
            elif action not in ("check", "preview"):
                raise UsageError("do", repr(action[:50]), "a button of the editor")
        except Conflict as conflict:
            return self._page(name, ending, text, base, was=name, kept=kept, conflict=conflict)
        except SyntagmError as error:
            status = 500 if isinstance(error, RunError) else 400
            return self._page(name, ending, text, base, was=was, kept=kept, wrong=str(error), status=status)
        return self._page(name, ending, text, base, was=was, kept=kept, previewed=action == "preview")

    def check(self, asked: Asked) -> Response:
        """Return as JSON, for the script of the editor, the findings of `check` in a text, and what the builder would add."""
        form = asked.form()
        ending = form.get("ending", drafts.TABLE)
        name = _named("", ending if ending in (drafts.TABLE, drafts.TEMPLATE) else drafts.TABLE)
        draft = drafts.draft(form.get("text", "").replace("\r\n", "\n"), name)
        listed = [
            {
                **{key: shown(value) for key, value in finding.to_json().items() if key not in ("path", "suite")},
                "error": finding.error,
            }
            for finding in draft.findings[:_FINDINGS]
        ]
        answer = {
            "findings": listed, "more": max(0, len(draft.findings) - _FINDINGS), "compared": draft.compared,
            "conditions": draft.conditions, "regions": draft.regions, "built": _built(form),
        }  # fmt: skip
        return content(json.dumps(answer).encode(), "application/json")

    def open(self, asked: Asked) -> Response:
        """Show the suite of a file that the script has read, in any format, in the editor. Its name is not used."""
        form = asked.form()
        ending = form.get("kind", "").lower()
        if ending not in _OPENED:
            raise UsageError("the file", f"the ending {ending[:20]!r}", "one of " + ", ".join(_OPENED))
        text = form.get("text", "")
        if ending == drafts.TEMPLATE:
            return self._page("", ending, text, "")
        with drafts.as_file(text, f"suite{ending}") as path:
            suites, unread = read_file(str(path))
        if unread:
            raise InputError("the file", unread[0].message, "", unread[0].cure)
        if len(suites) != 1:
            raise InputError("the file", counted(len(suites), "suite"), "one suite", "Split it into a file for each.")
        return self._page("", drafts.TABLE, drafts.text_of(suites[0]), "", said="Opened as a copy; give it a name.")

    def digest(self, asked: Asked) -> Response:
        """Return the digest of a suite as JSON: by it, the script of an editor sees that somebody else has saved."""
        return content(json.dumps(self._read(asked.names["name"]).digest).encode(), "application/json")

    def export(self, asked: Asked) -> Response:
        name, kind = asked.names["name"], asked.field("as")
        endings = writable()
        if kind not in endings:
            raise UsageError("as", repr(kind[:50]), "one of " + ", ".join(endings))
        suite = drafts.suite(self._read(name).text, name)
        stem = Path(name).stem
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{stem}{endings[kind][0]}"
            try:
                convert([suite], path, [kind], bool(asked.field("lossy")))
            except InputError as error:
                if asked.field("lossy") or "--lossy" not in error.cure:
                    raise
                lost = error.cure.partition("\n")[2].split("\n")
                variables = {"kind": kind, "name": name, "lost": [line.strip() for line in lost]}
                return frame.respond(self.ways, "/write", "lossy.html", "Not everything fits", variables, 400)
            return download(regular.content(path), "application/octet-stream", _harmless(path.name))

    def version(self, asked: Asked) -> Response:
        number = whole("version", asked.names["number"], least=1)
        document = self.store.version(asked.names["name"], number)
        return download(document.text.encode(), "text/plain", _harmless(document.name))

    def made(self, asked: Asked) -> Response:
        """Say where an experiment is, and how people take part."""
        name, design = asked.names["name"], asked.names["design"]
        self._read(name)
        folder = self._folder_of(name, design)
        if design not in _DESIGNS or not (folder / "plan.json").is_file():
            raise Missing("the address", "no such experiment", "an experiment of this suite")
        variables = {"name": name, "design": design, "folder": str(folder)}
        return frame.respond(self.ways, "/write", "experiment.html", "An experiment is planned", variables)

    def _read(self, name: str) -> Document:
        if name not in self.store.names():
            raise Missing(f"suite {name[:100]}", "no such suite", "a suite of the studio", "Begin at /write.")
        return self.store.read(name)

    def _saved(self, name: str, text: str, base: str) -> Document:
        if not name:
            raise UsageError("name", "empty", "a name for the suite")
        return self.store.save(name, text, base)

    def _scored(self, document: Document, form: Mapping[str, str]) -> str:
        models = [model for model in (form.get("model", ""), form.get("beside", "")) if model]
        limit = whole("items", form["limit"], least=1) if form.get("limit") else None
        drafts.suite(document.text, document.name)  # what can't be read is refused here, with its place
        return self.jobs.add(document.name, document.text, models, limit)

    def _experiment(self, document: Document, form: Mapping[str, str]) -> str:
        design = form.get("design", "")
        if design not in _DESIGNS:
            raise UsageError("design", repr(design[:50]), "one of " + ", ".join(_DESIGNS))
        people = whole("people", form.get("people", ""), least=1)
        planned = make.planned([drafts.suite(document.text, document.name)], make.Wishes(designs.find(design), people))
        make.write(planned, self._folder_of(document.name, design))
        return design

    def _folder_of(self, name: str, design: str) -> Path:
        folder = atomic.inside(self.store.folder, EXPERIMENTS)
        return atomic.inside(folder, f"{Path(name).stem}-{design}")

    def _page(
        self,
        name: str,
        ending: str,
        text: str,
        base: str,
        *,
        was: str = "",
        kept: Mapping[str, str] | None = None,
        unsaved: bool | None = None,
        said: str = "",
        wrong: str = "",
        conflict: Conflict | None = None,
        previewed: bool = False,
        status: int = 200,
    ) -> Response:
        draft, kept = drafts.draft(text, _named(name, ending)), kept or {}
        found = draft.findings
        theirs = conflict.current if conflict else None
        # The suite that is edited; under a name of another one, it is a new one until it is saved.
        saved = bool(name) and name == was and name in self.store.names()
        versions = self.store.versions(name) if saved else []
        models, conditions = [*self.jobs.models], draft.conditions
        offered = {"region": draft.regions, "model": models, "beside": models, "design": _DESIGNS}
        offered |= dict.fromkeys(_CONDITIONS, conditions)
        chosen = {**dict(zip(_CONDITIONS, conditions[:2], strict=False)), **kept}
        variables = {
            "name": name,
            "stem": name.removesuffix(ending),
            "ending": ending,
            "table": ending == drafts.TABLE,
            "text": Raw(text),
            "was": was,
            # Leaving such a page is asked about.
            "unsaved": digest_of(text.encode()) != base if unsaved is None else unsaved,
            # Who has seen the other version may replace it by saving again: exactly that one.
            "base": (theirs.digest if theirs else "") if conflict else base,
            "said": said,
            "wrong": wrong,
            "conflict": conflict is not None,
            "gone": conflict is not None and theirs is None,
            "compared": _side_by_side(theirs.text, text) if theirs else [],
            "findings": [(finding.error, _place(finding), finding) for finding in found[:_FINDINGS]],
            "more": max(0, len(found) - _FINDINGS),
            "errors": sum(finding.error for finding in found),
            "warnings": sum(not finding.error for finding in found),
            "predictions": [
                (prediction.name, Raw(prediction.name), prediction.formula.text, formula_in_words(prediction.formula))
                for prediction in draft.predictions
            ],
            "conditions": conditions,
            "whole": kept.get("region") == "*",
            "relations": [(sign, words, kept.get("relation") == sign) for sign, words in _RELATIONS.items()],
            "kept": {field: Raw(kept.get(field, default)) for field, default in _TYPED.items()},
            "previews": [drafts.preview(suite) for suite in draft.suites[:5]] if previewed else [],
            "saved": saved,
            "versions": [(version, _when(version.when)) for version in versions[:50]],
            "formats": [*writable()],
            "models": models,
            "options": {field: frame.options(names, chosen.get(field, "")) for field, names in offered.items()},
            "editor": ending == drafts.TEMPLATE and has_editor(),
        }
        title = name or ("A new suite" if ending == drafts.TABLE else "A new template")
        return frame.respond(self.ways, "/write", "editor.html", title, variables, 409 if conflict else status)


def _named(name: str, ending: str) -> str:
    """Return a name under which a text can be read before it has one."""
    stem = name.removesuffix(ending)
    # Names that can't be are refused when they are saved.
    return (
        f"{stem if stem and stem.replace('-', '').replace('_', '').isalnum() and len(stem) < 80 else 'suite'}{ending}"
    )


def _predicted(form: Mapping[str, str]) -> Prediction:
    """Return the prediction of the builder, or the formula that was typed."""
    from syntagm.suites import parse

    name = form.get("prediction", "").strip() or "prediction"
    if typed := form.get("formula", "").strip():
        try:
            return Prediction(name, parse(typed))
        except FormulaError as error:
            raise FormulaError(f"prediction {name}, {error.place}", error.found, error.expected, error.cure) from None
    choices = [form.get(field, "") for field in ("region", "relation", "first", "second", "third", "fourth")]
    return Prediction(name, drafts.comparison(*choices))


def _built(form: Mapping[str, str]) -> str:
    """Return what the builder would add, in words and as a formula; or why it can't."""
    if not (form.get("first") or form.get("formula", "").strip()):
        return ""
    try:
        formula = _predicted(form).formula
    except SyntagmError as error:
        return shown(str(error))
    return shown(f"{formula_in_words(formula).striptags()}: {formula.text}")


def _place(finding: Finding) -> str:
    parts = (("item", finding.item), ("condition", finding.condition), ("region", finding.region))
    return ", ".join(f"{kind} {name}" for kind, name in parts if name)


def _side_by_side(theirs: str, mine: str) -> Iterable[tuple[str, str, bool]]:
    if max(theirs.count("\n"), mine.count("\n")) > 2000:
        return [
            (line, "", True) for line in ("The texts are too long to be shown side by side; the history has both.",)
        ]
    return drafts.lines(theirs, mine)


def _when(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _harmless(name: str) -> str:
    return name if name.isascii() else f"suite{Path(name).suffix}"
