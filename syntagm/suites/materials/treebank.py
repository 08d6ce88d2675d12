"""Minimal pairs from a treebank in CoNLL-U: a rule finds a word, changes one of its features, and looks up the form.

A rule is a TOML file:

    name = "verb_number"
    [tags]                                  # tags of the suite
    [word]                                  # the word that changes
    upos = ["VERB", "AUX"]
    features = { VerbForm = "Fin" }
    [related]                               # a word that decides its form
    is = "dependent"                        # of the word; or "head"
    relation = ["nsubj"]
    upos = ["NOUN"]
    agree = ["Number"]                      # both have these features, with the same values
    distinct = true                         # its form must not be one of the changed value, too
    [change]
    feature = "Number"
    values = ["Sing", "Plur"]

The form is looked up among the forms of the same lemma and part of speech: in the treebank itself, and in a lexicon in
UniMorph's layout (lemma, form and features, separated by tabs). A word is left out if the form isn't known, if there are
several, if it is spelled as the word itself, or if it is also a form with the old value of the feature (syncretism). So
is a pair whose two words still agree under another reading: *das Zimmer* and *die Zimmer*, *mit dem Wagen* and *mit den
Wagen*. What readings a form has is known from the same sources.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from syntagm.core import InputError, counted, lines, toml, utf8
from syntagm.suites.formula import parse
from syntagm.suites.suite import Item, Prediction, Region, Sentence, Suite

RULES = Path(__file__).parent / "rules"
_COLUMNS = 10
_NONE = "_"
_KEYS: Mapping[str, frozenset[str]] = {
    "": frozenset({"name", "tags", "word", "related", "change"}),
    "word": frozenset({"upos", "features"}),
    "related": frozenset({"is", "relation", "upos", "features", "agree", "distinct"}),
    "change": frozenset({"feature", "values"}),
}
# UniMorph's tags (Sylak-Glassman 2016) in the terms of Universal Dependencies.
_UNIMORPH: Mapping[str, tuple[str, str]] = {
    "SG": ("Number", "Sing"), "PL": ("Number", "Plur"), "1": ("Person", "1"), "2": ("Person", "2"), "3": ("Person", "3"),
    "NOM": ("Case", "Nom"), "ACC": ("Case", "Acc"), "DAT": ("Case", "Dat"), "GEN": ("Case", "Gen"),
    "MASC": ("Gender", "Masc"), "FEM": ("Gender", "Fem"), "NEUT": ("Gender", "Neut"), "PRS": ("Tense", "Pres"),
    "PST": ("Tense", "Past"), "IND": ("Mood", "Ind"), "SBJV": ("Mood", "Sub"), "IMP": ("Mood", "Imp"),
    "FIN": ("VerbForm", "Fin"), "NFIN": ("VerbForm", "Inf"), "V.PTCP": ("VerbForm", "Part"),
}  # fmt: skip
_CLASSES: Mapping[str, str] = {"N": "NOUN", "V": "VERB", "ADJ": "ADJ", "DET": "DET", "PRO": "PRON"}

Features = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a treebank, with its place in the text; start is -1 inside a contraction (German *zum*)."""

    id: int
    form: str
    lemma: str
    upos: str
    features: Features
    head: int
    relation: str
    start: int


@dataclass(frozen=True, slots=True)
class Parsed:
    """A sentence of a treebank."""

    id: str
    text: str
    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """What is changed where; see the module."""

    name: str
    tags: Mapping[str, str]
    upos: frozenset[str]
    features: Features
    related: str
    relations: frozenset[str]
    related_upos: frozenset[str]
    related_features: Features
    agree: tuple[str, ...]
    distinct: bool
    feature: str
    values: tuple[str, ...]

    @classmethod
    def read(cls, name: str) -> "Rule":
        """Read a rule from a file, or a bundled one by its name."""
        bundled = {path.stem: path for path in RULES.glob("*.toml")}
        path = bundled.get(name, Path(name))
        if not path.is_file():
            raise InputError(name, "no such rule", "a file, or one of " + ", ".join(sorted(bundled)))
        top = toml.read(utf8.read(path), str(path))
        _refuse_keys(top, "", str(path))
        word, related, change = (_table(top, key, str(path)) for key in ("word", "related", "change"))
        place = f"{path}, [change]"
        values = _list(change, "values", place)
        if len(set(values)) != 2:
            raise InputError(f"{place}, values", repr(values), "two different values of the feature")
        if (kind := related.get("is", "dependent")) not in ("dependent", "head"):
            raise InputError(f"{path}, [related], is", repr(kind), "dependent or head")
        feature = change.get("feature")
        if not isinstance(feature, str) or not feature:
            raise InputError(f"{place}, feature", repr(feature), "the name of a feature")
        return cls(
            str(top.get("name", path.stem)), {key: str(value) for key, value in _table(top, "tags", str(path)).items()},
            frozenset(_list(word, "upos", f"{path}, [word]")), _features(word, f"{path}, [word]"), kind,
            frozenset(_list(related, "relation", f"{path}, [related]")),
            frozenset(_list(related, "upos", f"{path}, [related]")), _features(related, f"{path}, [related]"),
            tuple(_list(related, "agree", f"{path}, [related]")), _flag(related, "distinct", f"{path}, [related]"), feature,
            tuple(values),
        )  # fmt: skip

    def matches(self, sentence: Parsed) -> Iterator[tuple[Word, Word]]:
        """Yield each word that the rule may change, with the one word that decides its form."""
        for word in sentence.words:
            if word.start < 0 or word.upos not in self.upos or not _has(word, self.features):
                continue
            if word.features.get(self.feature) not in self.values:
                continue
            others = [
                other for other in sentence.words
                if (other.head == word.id and other.relation in self.relations if self.related == "dependent"
                    else other.id == word.head and word.relation in self.relations)
                and other.upos in self.related_upos and _has(other, self.related_features)
            ]  # fmt: skip
            if len(others) != 1:
                continue
            [other] = others
            # A coordinated subject is plural, whatever its first noun is.
            joined = any(
                third.head == other.id and third.relation.partition(":")[0] == "conj" for third in sentence.words
            )
            if not joined and all(
                name in word.features and word.features[name] == other.features.get(name) for name in self.agree
            ):
                yield word, other


@dataclass(slots=True)
class Forms:
    """The known forms: lemma and part of speech -> form -> its readings."""

    known: dict[tuple[str, str], dict[str, list[Features]]] = field(default_factory=lambda: defaultdict(dict))

    def add(self, lemma: str, upos: str, form: str, features: Features) -> None:
        """Note a form. Forms that differ in capitals are one, as words at the beginning of a sentence have them."""
        readings = self.known[lemma, _class(upos)].setdefault(form.lower(), [])
        if features not in readings:
            readings.append(features)

    def changed(self, word: Word, feature: str, value: str) -> tuple[str, str]:
        """Return the form of a word with another value of a feature, or "" and why there is none."""
        forms = self.known[word.lemma, _class(word.upos)]
        wanted = {**word.features, feature: value}
        fitting = [form for form, readings in forms.items() if any(_same(reading, wanted) for reading in readings)]
        if not fitting:
            return "", "no form with the other value is known"
        if len(fitting) > 1:
            return "", "several forms have the other value"
        [form] = fitting
        if form == word.form.lower() or any(_same(reading, word.features) for reading in forms[form]):
            return "", "the form is the same for both values"
        return (form.capitalize() if word.form[:1].isupper() else form), ""

    def agree(self, form: str, word: Word, other: Word, rule: Rule) -> bool:
        """Whether the changed form and the related word fit under some reading with the old value, or may anyway."""
        old = word.features[rule.feature]
        related = self.known[other.lemma, _class(other.upos)].get(other.form.lower(), [])
        if rule.distinct and any(reading.get(rule.feature) not in (None, old) for reading in related):
            return True
        changed = self.known[word.lemma, _class(word.upos)].get(form.lower(), [])
        return any(
            reading.get(rule.feature, old) == old and all(
                name in reading.keys() & noun.keys() and reading[name] == noun[name] for name in rule.agree
                if not (name == "Gender" and reading.get("Number") == "Plur")
            )
            for reading in changed for noun in related
        )  # fmt: skip


def sentences(path: Path) -> Iterator[Parsed]:
    comments: dict[str, str] = {}
    rows: list[tuple[int, list[str]]] = []
    for number, line in lines.read(path):
        if line.startswith("#"):
            key, _, value = line[1:].partition("=")
            comments[key.strip()] = value.strip()
        elif line.strip():
            columns = line.split("\t")
            if len(columns) != _COLUMNS:
                raise InputError(
                    f"{path}, line {number}", counted(len(columns), "column"), "ten columns, separated by tabs"
                )
            rows.append((number, columns))
        elif rows:
            yield _parsed(comments, rows, path)
            comments, rows = {}, []
    if rows:
        yield _parsed(comments, rows, path)


def _parsed(comments: Mapping[str, str], rows: Sequence[tuple[int, list[str]]], path: Path) -> Parsed:
    text = comments.get("text", "")
    words: list[Word] = []
    place, inside = 0, 0
    for number, (identity, form, lemma, upos, _, features, head, relation, _, misc) in rows:
        where = f"{path}, line {number}"
        if re.fullmatch(r"\d+\.\d+", identity):
            continue
        span = re.fullmatch(r"(\d+)(?:-(\d+))?", identity)
        if not span or not (head.isdecimal() or (span[2] and head == _NONE)):
            raise InputError(where, f"id {identity!r}, head {head!r}", "numbers")
        start = -1
        if int(span[1]) > inside:
            if "text" in comments:
                start = text.find(form, place)
                if start < 0:
                    raise InputError(
                        where, f"{form!r}, which the text doesn't have at this place", f"a word of {text!r}"
                    )
            else:
                start = len(text)
                text += form + ("" if "SpaceAfter=No" in misc.split("|") else " ")
            place = start + len(form)
        if span[2]:
            inside = int(span[2])
            continue
        words.append(Word(int(span[1]), form, lemma, upos, _split(features), int(head), relation, start))
    return Parsed(comments.get("sent_id", ""), text.rstrip(), tuple(words))


def forms(treebank: Path, lexicon: Path | None) -> Forms:
    """Collect the forms of a treebank, and of a lexicon in UniMorph's layout."""
    found = Forms()
    for sentence in sentences(treebank):
        for word in sentence.words:
            found.add(word.lemma, word.upos, word.form, word.features)
    if lexicon:
        for number, line in lines.read(lexicon):
            if not line.strip():
                continue
            columns = line.split("\t")
            if len(columns) < 3:
                expected = "lemma, form and features, separated by tabs"
                raise InputError(f"{lexicon}, line {number}", counted(len(columns), "column"), expected)
            tags = columns[2].split(";")
            if upos := _CLASSES.get(tags[0]):
                found.add(columns[0], upos, columns[1], dict(_UNIMORPH[tag] for tag in tags[1:] if tag in _UNIMORPH))
    return found


def suite(
    treebank: Path, rule: Rule, lexicon: Path | None = None, most: int | None = None
) -> tuple[Suite, Counter[str]]:
    """Make a suite of pairs, in the order of the treebank."""
    known = forms(treebank, lexicon)
    left_out: Counter[str] = Counter()
    items = tuple(islice(_items(treebank, rule, known, left_out), most))
    if not items:
        found = ", ".join(f"{reason}: {n:,}" for reason, n in left_out.most_common()) or "no word fits the rule"
        raise InputError(
            f"{treebank}, rule {rule.name}", found, "a pair", "Give a lexicon with --lexicon, or another rule."
        )
    predictions = (
        Prediction("full_sentence", parse("(*;%good%) < (*;%bad%)")),
        Prediction("one_prefix", parse("(critical;%good%) < (critical;%bad%)")),
    )
    tags = {"ungrammatical": "bad", "treebank": treebank.name, "rule": rule.name, **rule.tags}
    return Suite(rule.name, items, predictions, tags), left_out


def _items(treebank: Path, rule: Rule, known: Forms, left_out: Counter[str]) -> Iterator[Item]:
    seen: set[str] = set()
    for sentence in sentences(treebank):
        for word, other in rule.matches(sentence):
            old = word.features[rule.feature]
            new = next(value for value in rule.values if value != old)
            form, why = known.changed(word, rule.feature, new)
            if not form:
                left_out[why] += 1
                continue
            if known.agree(form, word, other, rule):
                left_out["the two words agree under another reading"] += 1
                continue
            good, bad = (_sentence(sentence.text, word, text) for text in (word.form, form))
            if good.text in seen:
                left_out["the sentence has a pair already"] += 1
                continue
            seen.add(good.text)
            yield Item(
                str(len(seen)), {"good": good, "bad": bad},
                {
                    "sentence": sentence.id, "lemma": word.lemma, "related": other.form,
                    "change": f"{rule.feature}={old} -> {new}", "distance": str(abs(word.id - other.id) - 1),
                },
            )  # fmt: skip


def _sentence(text: str, word: Word, form: str) -> Sentence:
    before, after = text[: word.start].rstrip(), text[word.start + len(word.form) :]
    whole = text[: word.start] + form + after
    start, end = word.start, word.start + len(form)
    rest = len(whole) - len(after.lstrip())
    return Sentence(
        whole, (Region("prefix", 0, len(before)), Region("critical", start, end), Region("rest", rest, len(whole)))
    )


def _same(reading: Features, wanted: Features) -> bool:
    """Whether a reading has the wanted features: those of verbs and nouns that either of them names, where both do."""
    # A lexicon needn't name the mood or the kind of a form, but what it names must fit, and number, person, case and
    # gender of the wanted form must be there.
    shared = reading.keys() & wanted.keys()
    needed = {"Number", "Person", "Case", "Gender", "Tense"} & wanted.keys()
    return needed <= reading.keys() and all(reading[name] == wanted[name] for name in shared)


def _has(word: Word, features: Features) -> bool:
    return all(word.features.get(name) == value for name, value in features.items())


def _class(upos: str) -> str:
    return "VERB" if upos == "AUX" else upos


def _split(text: str) -> Features:
    return {} if text == _NONE else dict(part.partition("=")[::2] for part in text.split("|"))


def _refuse_keys(table: Mapping[str, Any], name: str, place: str) -> None:
    if odd := sorted(table.keys() - _KEYS[name]):
        raise InputError(
            f"{place}{f', [{name}]' * bool(name)}", f"the key {odd[0]}", "one of " + ", ".join(sorted(_KEYS[name]))
        )


def _table(top: Mapping[str, Any], name: str, place: str) -> Mapping[str, Any]:
    table = top.get(name, {} if name == "tags" else None)
    if not isinstance(table, dict):
        raise InputError(f"{place}, {name}", "no table" if table is None else repr(table), f"a table [{name}]")
    if name in _KEYS:
        _refuse_keys(table, name, place)
    return table


def _list(table: Mapping[str, Any], name: str, place: str) -> list[str]:
    values = table.get(name, [])
    if (
        not isinstance(values, list)
        or not all(isinstance(value, str) for value in values)
        or (name != "agree" and not values)
    ):
        raise InputError(f"{place}, {name}", repr(values), "a list of strings")
    return values


def _flag(table: Mapping[str, Any], name: str, place: str) -> bool:
    value = table.get(name, False)
    if not isinstance(value, bool):
        raise InputError(f"{place}, {name}", repr(value), "true or false")
    return value


def _features(table: Mapping[str, Any], place: str) -> Features:
    features = table.get("features", {})
    if not isinstance(features, dict) or not all(isinstance(value, str) for value in features.values()):
        raise InputError(f"{place}, features", repr(features), 'a table, as in { VerbForm = "Fin" }')
    return features
