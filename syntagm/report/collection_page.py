"""The Markdown page of `syntagm describe`: contrast, an example per condition, predictions in words, chance and source."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from syntagm.core import counted, shown_lines
from syntagm.evaluation import Baseline, Frequencies, baselines, chance_level
from syntagm.report import markdown
from syntagm.report.in_words import in_words
from syntagm.suites import Binary, Formula, Item, Node, Sentence, Suite

# The tag that lists the conditions with a star, separated by spaces; without it, the condition `bad` of pairs has one.
UNGRAMMATICAL = "ungrammatical"
_NOTED = {
    "paper": "Paper",
    "reference": "Reference",
    "modifies": "Modifies",
    "style": "Style",
    "vocabulary": "Vocabulary",
    "seed": "Drawn with seed",
    "author": "Author",
    "licence": "Licence",
    "comment": "Comment",
    "frequency_cue": "Word frequency is a cue",
    "length_cue": "Length is a cue",
    "word_cue": "A word is a cue",
    "closed_class": "The class is closed",
}
_LEGEND = """Bold regions are those that the predictions compare, unless they compare whole sentences. A star marks ungrammatical
sentences, if the suite declares them. *Chance* is the probability that the (first) prediction holds if all
values that it compares are drawn independently from one distribution (a normal one, where it matters which)."""
_BASELINES = """*Frequency*, *words* and *characters* are baselines without context: the proportion of items for which the
(first) prediction holds if a sentence or region costs the sum of the unigram surprisals of its words (counted in {about}),
its number of words, or its number of characters. A tie counts as the chance level. Bold values are more than .05 off
chance; the suite says why, unless `syntagm check --baselines` warns."""


@dataclass(frozen=True, slots=True)
class Described:
    """A suite with only its first item, the number of its items, and the baselines of its first prediction, if wanted.

    `counted_in` says where the frequencies of its words come from, and `remark` what is to be known about them.
    """

    suite: Suite
    items: int
    baselines: tuple[Baseline, ...] = ()
    counted_in: str = ""
    remark: str = ""

    def tag(self, *names: str) -> str:
        """Return the value of the first of these tags that the suite has, or ""."""
        return next((self.suite.tags[name] for name in names if name in self.suite.tags), "")

    @property
    def circuit(self) -> str:
        """The group of the suite."""
        return self.tag("circuit", "field")

    @property
    def phenomenon(self) -> str:
        """The group within the circuit; "" if it has the same name as the circuit."""
        phenomenon = self.tag("phenomenon", "linguistics_term")
        return "" if phenomenon.casefold() == self.circuit.casefold() else phenomenon


def describe_collection(
    title: str, suites: Iterable[Suite], frequencies: Frequencies | None = None, options: str = ""
) -> str:
    """Return a Markdown page about suites; the same suites always give the same page."""
    described = [_describe(suite, frequencies) for suite in suites]
    shared = _find_shared(described)
    blocks = [f"# {markdown.text(title)}", f"Made by {markdown.code(f'syntagm describe {title}{options}')}."]
    blocks += [_summary(described, shared), _LEGEND]
    if frequencies:
        sources = dict.fromkeys(entry.counted_in for entry in described if entry.counted_in)
        blocks += [_BASELINES.format(about=markdown.text("; ".join(sources) or "no list of words"))]
    blocks += [_contents(described, bool(frequencies))]
    if remarks := [f"* {markdown.text(f'{entry.suite.name}: {entry.remark}')}" for entry in described if entry.remark]:
        blocks += ["\n".join(remarks)]
    for circuit, group in _groups(described, "circuit"):
        blocks += (
            [f"## {markdown.text(circuit or 'In no circuit')}"] if any(entry.circuit for entry in described) else []
        )
        for phenomenon, members in _groups(group, "phenomenon"):
            blocks += [f"### {markdown.text(phenomenon)}"] if phenomenon else []
            for entry in members:
                blocks += _section(entry, shared)
    # Nothing that a terminal would obey, wherever in a suite it stood.
    return shown_lines("\n\n".join(blocks)) + "\n"


def _describe(suite: Suite, frequencies: Frequencies | None) -> Described:
    one = replace(suite, items=suite.items[:1])
    if not frequencies:
        return Described(one, len(suite.items))
    fitting, remark = baselines.fitting(suite, frequencies)
    found = baselines.baselines(suite, fitting)
    first = tuple(baseline for baseline in found if baseline.prediction == suite.predictions[0].name)
    # English without a tag that says so is no news.
    return Described(
        one, len(suite.items), first, fitting.about if fitting else "", remark if fitting is not frequencies else ""
    )


def _groups(described: Sequence[Described], key: str) -> Iterator[tuple[str, list[Described]]]:
    """Group suites by an attribute, in the order of the first suite of each group; suites without it come last."""
    # Values that differ only in case, blanks, slashes and underscores are one group, named as in its first suite: the
    # published BLiMP has the field `syntax/semantics` as well as `syntax_semantics`.
    groups: dict[str, list[Described]] = {}
    for entry in described:
        groups.setdefault(re.sub(r"[\s/_]+", "_", getattr(entry, key).casefold()), []).append(entry)
    for members in sorted(groups.values(), key=lambda members: not getattr(members[0], key)):
        yield getattr(members[0], key), members


def _find_shared(described: Sequence[Described]) -> dict[str, str]:
    """Return the tags that have the same value in all suites, which are shown only once."""
    if len(described) < 2:
        return {}
    values = {name: {entry.suite.tags.get(name, "") for entry in described} for name in _NOTED}
    return {name: value for name, held in values.items() if len(held) == 1 for value in held if value}


def _summary(described: Sequence[Described], shared: dict[str, str]) -> str:
    counts = f"{counted(len(described), 'suite')}, {counted(sum(entry.items for entry in described), 'item')}."
    return " ".join([counts, *(_note(name, value) for name, value in shared.items())])


def _note(name: str, value: str) -> str:
    shown = markdown.link(value) if name == "modifies" else markdown.text(value)
    return f"{_NOTED[name]}: {shown.rstrip('.')}."


def _contents(described: Sequence[Described], with_baselines: bool) -> str:
    kinds = baselines.KINDS if with_baselines else ()
    rows = [
        (
            markdown.link(entry.suite.name),
            markdown.text(entry.circuit),
            f"{entry.items:,}",
            str(chance_level.known(entry.suite.predictions[0].formula)) if entry.suite.predictions else "",
            *(_value(entry, kind) for kind in kinds),
        )
        for _, group in _groups(described, "circuit")
        for _, members in _groups(group, "phenomenon")
        for entry in members
    ]
    return markdown.table(("suite", "circuit", "items", "chance", *kinds), rows)


def _value(described: Described, kind: str) -> str:
    """Return a baseline of a suite, in bold if it is off chance; "" if there is none."""
    for baseline in described.baselines:
        if baseline.kind == kind:
            return f"**{baseline.value:.3f}**" if baseline.leaks else f"{baseline.value:.3f}"
    return ""


def _section(described: Described, shared: dict[str, str]) -> Iterator[str]:
    suite = described.suite
    yield f"#### {markdown.code(suite.name)}"
    if contrast := described.tag("contrast", "description"):
        yield markdown.text(_as_sentence(contrast))
    if suite.items:
        yield _examples(suite, suite.items[0])
    yield " ".join([f"{counted(described.items, 'item')}.", *_shape(suite)])
    for prediction in suite.predictions:
        yield f"Prediction {markdown.code(prediction.name)}: {_prediction(suite, prediction.formula)}"
        yield "\n".join(f"    {line}" for line in _lines(prediction.formula))
    if notes := [_note(name, suite.tags[name]) for name in _NOTED if name in suite.tags and name not in shared]:
        yield " ".join(notes)


def _as_sentence(words: str) -> str:
    """Turn the author's words into a sentence, with an initial capital and a full stop."""
    return words[:1].upper() + words[1:] + ("" if words[-1:] in ".!?" else ".")


def _shape(suite: Suite) -> Iterator[str]:
    """Yield a sentence about the regions, and another if the value of a region is not the sum over its tokens."""
    names = dict.fromkeys(
        region.name for item in suite.items for sentence in item.sentences.values() for region in sentence.regions
    )
    if names:
        labels = _labels(suite)
        shown = (markdown.code(f"{name} {labels.get(name, '')}".strip()) for name in names)
        yield f"Regions: {', '.join(shown)}."
    if suite.aggregate != "sum":
        yield f"The value of a region is the {suite.aggregate} of its tokens."


def _labels(suite: Suite) -> dict[str, str]:
    return {name.removeprefix("region."): label for name, label in suite.tags.items() if name.startswith("region.")}


def _prediction(suite: Suite, formula: Formula) -> str:
    level = chance_level.known(formula)
    note = f"chance {level}" if str(level) else level.method
    return f"{in_words(formula, _labels(suite))}; {note}."


def _lines(formula: Formula) -> list[str]:
    """Return the formula, with one line for each part of the outermost conjunction."""
    parts = _conjuncts(formula.tree)
    whole = len(parts) == 1
    return [
        ("" if number == 0 else "& ") + str(Formula("", part)).join(("", "") if whole else "()")
        for number, part in enumerate(parts)
    ]


def _conjuncts(node: Node) -> list[Binary]:
    assert isinstance(node, Binary)
    return [*_conjuncts(node.left), *_conjuncts(node.right)] if node.operator == "&" else [node]


def _examples(suite: Suite, item: Item) -> str:
    starred = suite.tags.get(UNGRAMMATICAL, "bad").split()
    rows = [
        (markdown.code(name), ("\\*" if name in starred else "") + _sentence(suite, name, sentence))
        for name, sentence in item.sentences.items()
    ]
    return markdown.table(("condition", f"item {markdown.text(item.id)}"), rows)


def _sentence(suite: Suite, condition: str, sentence: Sentence) -> str:
    """Return the sentence with the compared regions in bold; neighbouring regions are joined."""
    references = [reference for prediction in suite.predictions for reference in prediction.formula.references()]
    compared = {reference.region for reference in references if reference.condition == condition}
    pieces, at = [], 0
    spans = [
        (region.start, region.end)
        for region in sentence.regions
        if region.name in compared and region.start < region.end
    ]
    for start, end in _join(spans, sentence.text):
        pieces += [markdown.text(sentence.text[at:start]), markdown.bold(sentence.text[start:end])]
        at = end
    return "".join([*pieces, markdown.text(sentence.text[at:])])


def _join(spans: Sequence[tuple[int, int]], text: str) -> list[tuple[int, int]]:
    """Join spans that are separated only by white space."""
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and not text[joined[-1][1] : start].strip():
            start = joined.pop()[0]
        joined.append((start, end))
    return joined
