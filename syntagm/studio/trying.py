"""Trying sentences: an original, an edited one beside it, and one or two models.

The page is a form whose fields are in its address, so that it can be kept and sent, and works without scripts. An item of a
suite brings its conditions, regions and predictions; without one, there is a sentence, or two that make a pair.
"""

import re
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, TypeAlias
from urllib.parse import quote, urlencode

from markupsafe import Markup
from starlette.responses import Response

from syntagm.core import NONE, InputError, Permissions, RunError, SyntagmError, UsageError, did_you_mean
from syntagm.models import LanguageModel, names, sweeps
from syntagm.report import (
    CONDITIONS,
    DIFFERENCE,
    TOKENS,
    VERDICTS,
    Asked,
    Filed,
    ItemPage,
    Missing,
    Query,
    Route,
    Section,
    Site,
    moved,
    shell,
)
from syntagm.runs import Run
from syntagm.runs.evaluate import evaluate
from syntagm.studio import drafts, frame
from syntagm.studio.frame import Raw, Ways
from syntagm.studio.library import Library
from syntagm.studio.store import Conflict
from syntagm.suites import (
    LANGUAGES,
    WHOLE,
    Item,
    Prediction,
    Sentence,
    Suite,
    contents_of,
    parse,
    public_tags,
    sentence_of,
)

# A sentence in a field has ` | ` between its regions: "The keys | to the cabinet | are here |~." A region that begins with
# `~` follows without a blank, as in the spreadsheet format. Without ` | ` there are no regions. What is read is scored and
# kept character by character: blanks inside of a region stay, whichever they are.

# The most characters of a sentence.
LONGEST = 2000
_BORDER = re.compile(r"(?:^| +)\|(?= |~|$)")
# Fields of forms end lines in their own way; in a sentence, a line break is a blank.
_BREAK = re.compile(r" *(?:\r\n|\r|\n)\s*")


def in_one_line(sentence: Sentence) -> str:
    """Return a sentence with its regions in one line.

    >>> in_one_line(sentence_of({"subject": "The keys", "verb": "are here", "end": "~."}, ""))
    'The keys | are here |~.'
    """
    if not sentence.regions:
        return sentence.text
    contents = [content for _, content in contents_of(sentence)]
    return " ".join(
        contents[:1] + [f"|{'' if content.startswith('~') else ' '}{content}".strip() for content in contents[1:]]
    )


def is_lossless(sentence: Sentence) -> bool:
    """Return whether a sentence can be written in one line and read back as it was.

    Not if it has ` | ` of its own, begins or ends with a blank, or has anything but single blanks between its regions.

    >>> is_lossless(read_sentence("The keys | are  here", "")), is_lossless(Sentence("a | b"))
    (True, False)
    """
    try:
        return read_sentence(in_one_line(sentence), "", [region.name for region in sentence.regions]) == sentence
    except InputError:
        return False


def cleaned(line: str) -> str:
    """Return the text of a field as one line: without blanks around it, and with a blank for each line break."""
    return _BREAK.sub(" ", line).strip(" \t")


def read_sentence(line: str, place: str, names: Sequence[str] = ()) -> Sentence:
    """Read a sentence.

    Arguments:
        line: the sentence in one line.
        place: the place, for messages.
        names: the names of the regions; if the line has another number of regions, they are numbered from 1.

    Raises:
        InputError: the sentence is too long, or empty.

    >>> [region.name for region in read_sentence("The keys | are here |~.", "", ["subject", "verb", "end"]).regions]
    ['subject', 'verb', 'end']
    >>> read_sentence("It rained.", "").regions
    ()
    """
    if len(line) > LONGEST:
        raise InputError(place, f"{len(line):,} characters", f"at most {LONGEST:,}")
    line = cleaned(line)
    if not line.strip():
        raise InputError(place, "an empty sentence", "a sentence")
    parts = [part.strip(" ") for part in _BORDER.split(line)]
    if len(parts) == 1:
        return sentence_of({WHOLE: line}, place)
    if len(set(names)) != len(parts):
        names = [str(number) for number in range(1, len(parts) + 1)]
    return sentence_of(dict(zip(names, parts, strict=True)), place)


# The runs of tried sentences that are kept, and the seconds that one waits for another. Only one may wait while another is
# scored, because each has one of the few threads that answer.
KEPT, PATIENCE, WAITING = 64, 20.0, 2
_BUSY = "Another sentence is being scored, or a model is being loaded."


class Bench:
    """Models by their labels."""

    def __init__(self, models: Sequence[str], permissions: Permissions = NONE) -> None:
        self.permissions = permissions
        found = [(text, model) for text in models for model in sweeps.several(text)]
        labels = [sweeps.folder_name(sweeps.label_part(*pair)) for pair in found]
        if len(set(labels)) < len(labels):
            labels = [sweeps.folder_name(model) for _, model in found]
        self.models: Mapping[str, str] = dict(zip(labels, (model for _, model in found), strict=True))
        if len(self.models) < len(labels):
            raise UsageError("--model", "the same model twice", "each model once")
        for model in self.models.values():
            names.check(model, permissions)
        self._loaded: tuple[str, LanguageModel] | None = None
        self._kept: OrderedDict[tuple[str, str], Run] = OrderedDict()
        self._lock, self._places = threading.Lock(), threading.Semaphore(WAITING)

    def find(self, label: str) -> str:
        if label not in self.models:
            known = ", ".join(self.models) or "a model, which `syntagm serve --model NAME` names"
            raise UsageError("model", repr(label[:100]), known, did_you_mean(label, self.models))
        return self.models[label]

    def score(self, label: str, suite: Suite, measures: Sequence[str] = ()) -> Run:
        """Evaluate a model on a small suite in memory."""
        # The representation of a suite that is a dataclass has all of it.
        key = (label, repr((suite.items, suite.predictions, suite.aggregate, tuple(measures))))
        with self._turn():
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
            run = evaluate(self._load(label), suite, measures=measures or None)
            run.name = label
            self._kept[key] = run
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return run

    def _load(self, label: str) -> LanguageModel:
        name = self.find(label)
        if self._loaded is None or self._loaded[0] != label:
            self._loaded = None  # its memory is free before the next one is loaded
            model = names.load_permitted(name, self.permissions)
            model.label = label
            self._loaded = (label, model)
        return self._loaded[1]

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if not self._places.acquire(blocking=False):
            raise RunError("the models", "busy", "a free one", f"{_BUSY} Try again in a moment.")
        try:
            if not self._lock.acquire(timeout=PATIENCE):
                raise RunError(
                    "the models", f"busy for {PATIENCE:g} seconds", "a free one", f"{_BUSY} Try again later."
                )
            try:
                yield
            finally:
                self._lock.release()
        finally:
            self._places.release()


# The name of an item, and the headings and contents of what a page shows of it.
Part: TypeAlias = tuple[str, list[tuple[str, Markup]]]
ORIGINAL, EDITED = "original", "edited"
# The conditions of a pair, and of a sentence alone.
PAIR, ALONE = ("good", "bad"), "sentence"
_LEGENDS = {"good": "The sentence that should be less surprising", "bad": "The other sentence"}
PAIRED = Prediction("full_sentence", parse("(*;%good%) < (*;%bad%)"))
# The most conditions, and the items of a suite to which the page leads.
_MOST, _LISTED = 32, 200


@dataclass(frozen=True, slots=True)
class Trial:
    """What is tried.

    Arguments:
        suite, item: where the sentences come from; "" for sentences that were typed.
        predictions: the predictions that are judged.
        pinned: condition -> the original sentence.
        edited: condition -> the edited one.
        base: the suite that the item belongs to.
    """

    suite: str
    item: str
    predictions: tuple[Prediction, ...]
    pinned: Mapping[str, Sentence]
    edited: Mapping[str, Sentence]
    base: Suite

    @property
    def changed(self) -> bool:
        return dict(self.pinned) != dict(self.edited)

    def as_suite(self) -> Suite:
        """Return the suite that is scored: an item with the originals, and one with the edited sentences if they differ."""
        sides = [(ORIGINAL, self.pinned), *([(EDITED, self.edited)] if self.changed else [])]
        return replace(
            self.base, items=tuple(Item(name, sentences) for name, sentences in sides), predictions=self.predictions
        )


class Trying:
    """The page on which sentences are tried."""

    def __init__(self, bench: Bench, library: Library, ways: Ways) -> None:
        self.bench, self.library, self.ways = bench, library, ways

    def routes(self) -> list[Route]:
        keeping = [Route("/try/keep", self.keep, methods=("POST",))] if self.library.store else []
        return [Route("/try", self.show), *keeping]

    def show(self, asked: Asked) -> Response:
        """Show the form, and what the models make of its sentences."""
        given = _grouped(asked.query)
        models = [name for name in dict.fromkeys(given.get("model", [])) if name]
        wrong, trial, status = "", None, 200
        parts: list[Part] = []
        try:
            trial = self._trial(given)
            if trial and models:
                parts = self._scored(trial, models[:2])
        except SyntagmError as error:
            wrong, status = str(error), 404 if isinstance(error, Missing) else 400
        labels, rows = [*self.bench.models], _rows(given, trial)
        variables = {
            "wrong": wrong,
            "models": [
                (name, [(label, models[place : place + 1] == [label]) for label in labels])
                for place, name in enumerate(("Model", "Second model"))
            ],
            "none": not labels,
            "suite": given.get("suite", [""])[0],
            "fields": [(name, Raw(given[name][0])) for name in ("suite", "item") if given.get(name)],
            "rows": rows,
            "pair": len(rows) < 2 and not given.get("suite"),
            "parts": parts,
            "pin": _pinning(given, trial, models),
            "changed": trial is not None and trial.changed,
            "suites": self.library.listed(),
            "keep": self._keeping(trial),
            "own": self._tables(),
            "others": [item.id for item in trial.base.items[:_LISTED]] if trial else [],
        }
        title = f"Try: {trial.base.name}, item {trial.item}" if trial and trial.item else "Try a sentence"
        return frame.respond(self.ways, "/try", "try.html", title, variables, status)

    def keep(self, asked: Asked) -> Response:
        """Add the sentences as an item to a suite of the folder, which begins with it if there is none of this name."""
        store, form = self.library.store, asked.form()
        assert store, "there is no such route without a folder"
        typed = form.get("name", "").strip()
        name = typed if typed.endswith(drafts.TABLE) else typed + drafts.TABLE
        suite, base, by_item = self._target(form, name)
        taken = {item.id for item in suite.items}
        number = next(number for number in count(len(suite.items) + 1) if str(number) not in taken)
        sentences = dict(self._kept(form))
        item = Item(str(number), sentences)
        text = drafts.text_of(replace(suite, items=(*suite.items, item)), by_item)
        try:
            store.save(name, text, base)
        except Conflict:
            raise UsageError(f"suite {name}", "somebody else has just saved it", "a moment", "Keep it again.") from None
        return moved(f"/write/{quote(name)}?saved=1")

    def _target(self, form: Mapping[str, str], name: str) -> tuple[Suite, str, bool]:
        """Return the suite to which an item is added, the digest of its file, and whether that has one item per row."""
        store = self.library.store
        assert store
        if name in store.names():
            document = store.read(name)
            return drafts.suite(document.text, name), document.digest, drafts.is_by_item(document.text)
        source = form.get("from", "")
        if source:
            found = self.library.suite(source)
            tags = {key: tag for key, tag in public_tags(found.tags).items() if key in LANGUAGES}
            return replace(found, name=name.removesuffix(drafts.TABLE), items=(), tags=tags), "", True
        predictions = (PAIRED,) if "text 2" in form else ()
        return Suite(name.removesuffix(drafts.TABLE), (), predictions), "", True

    def _kept(self, form: Mapping[str, str]) -> Iterator[tuple[str, Sentence]]:
        """Yield the conditions and sentences of the form. Regions have the names that they have in the item's suite."""
        item = None
        if source := form.get("from", ""):
            item = next((one for one in self.library.suite(source).items if one.id == form.get("item", "")), None)
        for number in range(1, _MOST + 1):
            if not (condition := form.get(f"condition {number}", "")):
                return
            original = item.sentences.get(condition) if item else None
            yield condition, _edited(form.get(f"text {number}", ""), condition, original)

    def _tables(self) -> list[str]:
        names = self.library.store.names() if self.library.store else []
        return [name.removesuffix(drafts.TABLE) for name in names if name.endswith(drafts.TABLE)]

    def _trial(self, given: Mapping[str, Sequence[str]]) -> Trial | None:
        if name := given.get("suite", [""])[0]:
            return self._of_item(name, given)
        texts = [text for text in given.get("text", []) if text.strip()]
        if not texts:
            return None
        pinned = [text for text in given.get("pinned", []) if text.strip()]
        names = PAIR if len(texts) > 1 else (ALONE,)
        if len(texts) > 2:
            raise InputError("sentences", f"{len(texts)}", "one, or two that make a pair")
        edited = {name: _edited(text, name) for name, text in zip(names, texts, strict=True)}
        # Another number of sentences is another comparison: the original begins anew.
        before = pinned if len(pinned) == len(texts) else texts
        originals = {name: _edited(text, name) for name, text in zip(names, before, strict=True)}
        predictions = (PAIRED,) if len(texts) > 1 else ()
        return Trial("", "", predictions, originals, edited, Suite("try", (), ()))

    def _of_item(self, name: str, given: Mapping[str, Sequence[str]]) -> Trial:
        suite = self.library.suite(name)
        key = given.get("item", [""])[0] or (suite.items[0].id if suite.items else "")
        found = next((item for item in suite.items if item.id == key), None)
        if found is None:
            raise Missing(f"suite {name}", f"no item {key[:100]!r}", "an item of the suite")
        conditions, texts = given.get("condition", []), given.get("text", [])
        if len(conditions) != len(texts) or len(texts) > _MOST:
            raise InputError("the form", f"{len(texts)} sentences", f"{len(conditions)}, one for each condition")
        edited = dict(found.sentences)
        for condition, text in zip(conditions, texts, strict=True):
            if condition not in edited:
                raise InputError("the form", f"the condition {condition[:100]!r}", ", ".join(edited))
            edited[condition] = _edited(text, condition, original := edited[condition])
            if (found_here := len(edited[condition].regions)) != len(original.regions):
                cure = "A region may be empty: two borders follow each other."
                raise InputError(f"condition {condition}", f"{found_here} regions", f"{len(original.regions)}", cure)
        return Trial(name, key, suite.predictions, found.sentences, edited, suite)

    def _scored(self, trial: Trial, models: Sequence[str]) -> list[Part]:
        suite = trial.as_suite()
        measures = [] if suite.predictions else [f"surprisal(condition={name})" for name in trial.edited]
        runs = [self.bench.score(name, suite, measures) for name in models]
        return shown(runs, suite.name, [item.id for item in suite.items])

    def _keeping(self, trial: Trial | None) -> dict[str, Any]:
        if not trial or not self.library.store:
            return {}
        sentences = [(Raw(name), Raw(in_one_line(sentence))) for name, sentence in trial.edited.items()]
        return {"sentences": sentences, "from": Raw(trial.suite), "item": Raw(trial.item)}


def shown(runs: Sequence[Run], suite: str, items: Sequence[str]) -> list[Part]:
    """Return what pages of items show of each of some items: its name, and the headings and contents of its sections."""
    site = Site(runs)
    addresses = Filed({}, "try")
    parts = []
    # A sentence alone is judged by nothing: its bits stand in the other sections.
    judged = runs[0].task.conjoins
    wanted: list[Section[Any]] = [TOKENS, *([VERDICTS] if judged else []), CONDITIONS, DIFFERENCE]
    for item in items:
        page = site.page(("suite", suite, item), addresses)
        assert isinstance(page, ItemPage)
        sections = [section for section in wanted if section.when(page)]
        parts.append((
            item,
            [
                (section.heading, Markup(shell.render_part(section.template, _variables(section, page))))
                for section in sections
            ],
        ))  # fmt: skip
    return parts


def _variables(section: Any, page: ItemPage) -> dict[str, Any]:
    return {"pictures": {}, **section.describe(page, page.links), **section.versions[0]}


def _grouped(query: Query) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in query:
        found.setdefault(name, []).append(value)
    return found


def _edited(text: str, condition: str, original: Sentence | None = None) -> Sentence:
    """Read the field of a condition. A sentence that was not edited is the original, whatever it contains."""
    if original and cleaned(text) == cleaned(in_one_line(original)):
        return original
    sentence = read_sentence(text, condition, [region.name for region in original.regions] if original else [])
    if not all(map(is_lossless, [sentence, *([original] if original else [])])):
        found = "a sentence that one line can't hold: it has ` | ` or `~` of its own, or other blanks between regions"
        raise InputError(f"condition {condition}", found, "regions with single blanks between them", "Edit its suite.")
    return sentence


def _rows(given: Mapping[str, Sequence[str]], trial: Trial | None) -> list[dict[str, object]]:
    """Return the rows of the form: a condition, its original, and the sentence in the field."""
    # What can't be read stands in the fields as it was sent.
    if trial:
        texts = {name: in_one_line(sentence) for name, sentence in trial.edited.items()}
        originals = {name: in_one_line(sentence) for name, sentence in trial.pinned.items()}
    elif given.get("suite") and given.get("condition"):
        texts, originals = dict(zip(given["condition"], given.get("text", []), strict=False)), {}
    else:
        typed = [text for text in given.get("text", []) if text.strip()] or [""]
        names = PAIR if len(typed) > 1 else (ALONE,)
        texts = dict(zip(names, typed, strict=False))
        originals = dict(zip(names, given.get("pinned", []), strict=False))
    return [
        {
            "condition": name, "field": Raw(name), "original": originals.get(name, ""),
            "pinned": Raw(originals.get(name, "")), "text": Raw(text), "legend": _LEGENDS.get(name, ""),
        }
        for name, text in texts.items()
    ]  # fmt: skip


def _pinning(given: Mapping[str, Sequence[str]], trial: Trial | None, models: Sequence[str]) -> str:
    """Return the address of this page with the edited sentences as originals; "" where there is nothing to pin."""
    if trial is None or trial.item or not trial.changed:
        return ""
    texts = [in_one_line(sentence) for sentence in trial.edited.values()]
    fields = [*(("model", name) for name in models), *(("text", text) for text in texts)]
    return f"/try?{urlencode(fields)}"
