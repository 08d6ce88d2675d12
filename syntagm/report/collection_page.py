"""A page about suites, in Markdown: contrast, one example a condition, the predictions in words, chance and source."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from syntagm.formula import Binary, Formula, Node
from syntagm.report import markdown
from syntagm.report.in_words import in_words
from syntagm.stats.chance import chance
from syntagm.suite import Item, Sentence, Suite

# The conditions that are starred, separated by blanks; without this tag that is the condition `bad` of a pair.
UNGRAMMATICAL = "ungrammatical"
_NOTED = {
    "paper": "Paper",
    "reference": "Reference",
    "modifies": "Modifies",
    "style": "Style",
    "seed": "Drawn with seed",
    "author": "Author",
    "licence": "Licence",
    "comment": "Comment",
}
_LEGEND = """Bold is what the predictions compare, where that is not the whole sentence. A star marks what is ungrammatical,
where a suite says so. *Chance* is how often the (first) prediction holds if all values that it compares are independent draws
from one distribution; a normal one, where it depends on it."""


@dataclass(frozen=True, slots=True)
class Described:
    """A suite with its first item only, and how many items it has."""

    suite: Suite
    items: int

    def tag(self, *names: str) -> str:
        """The first of these tags that the suite has, or nothing."""
        return next((self.suite.tags[name] for name in names if name in self.suite.tags), "")

    @property
    def circuit(self) -> str:
        """The group in which the suite stands."""
        return self.tag("circuit", "field")

    @property
    def phenomenon(self) -> str:
        """The group within the circuit; nothing if it is the same."""
        found = self.tag("phenomenon", "linguistics_term")
        return "" if found.casefold() == self.circuit.casefold() else found


def page(title: str, suites: Iterable[Suite]) -> str:
    """The page, as Markdown; the same suites give the same page.

    Arguments:
        title: of the page, and what `syntagm describe` was asked for.
        suites: read once, one in memory at a time.
    """
    found = [Described(replace(suite, items=suite.items[:1]), len(suite.items)) for suite in suites]
    shared = _shared(found)
    blocks = [f"# {markdown.text(title)}", f"Made by {markdown.code(f'syntagm describe {title}')}."]
    blocks += [_summary(found, shared), _LEGEND, _contents(found)]
    for circuit, group in _groups(found, "circuit"):
        blocks += [f"## {markdown.text(circuit or 'In no circuit')}"] if any(one.circuit for one in found) else []
        for phenomenon, members in _groups(group, "phenomenon"):
            blocks += [f"### {markdown.text(phenomenon)}"] if phenomenon else []
            for one in members:
                blocks += _section(one, shared)
    return "\n\n".join(blocks) + "\n"


def _groups(found: Sequence[Described], key: str) -> Iterator[tuple[str, list[Described]]]:
    """By value, in the order of the first suite of each; those without the value last."""
    order = {value: number for number, value in enumerate(dict.fromkeys(getattr(one, key) for one in found))}
    ranked = sorted(found, key=lambda one: (not getattr(one, key), order[getattr(one, key)]))
    for value, members in groupby(ranked, key=lambda one: getattr(one, key)):
        yield value, list(members)


def _shared(found: Sequence[Described]) -> dict[str, str]:
    """The tags with one value in all suites, which are said once."""
    if len(found) < 2:
        return {}
    values = {name: {one.suite.tags.get(name, "") for one in found} for name in _NOTED}
    return {name: value for name, held in values.items() if len(held) == 1 for value in held if value}


def _summary(found: Sequence[Described], shared: dict[str, str]) -> str:
    counts = f"{markdown.counted(len(found), 'suite')}, {markdown.counted(sum(one.items for one in found), 'item')}."
    return " ".join([counts, *(_note(name, value) for name, value in shared.items())])


def _note(name: str, value: str) -> str:
    shown = markdown.link(value) if name == "modifies" else markdown.text(value)
    return f"{_NOTED[name]}: {shown.rstrip('.')}."


def _contents(found: Sequence[Described]) -> str:
    rows = [
        (markdown.link(one.suite.name), markdown.text(one.circuit), f"{one.items:,}", _first_chance(one.suite))
        for _, group in _groups(found, "circuit")
        for _, members in _groups(group, "phenomenon")
        for one in members
    ]
    return markdown.table(("suite", "circuit", "items", "chance"), rows)


def _first_chance(suite: Suite) -> str:
    return str(chance.known(suite.predictions[0].formula)) if suite.predictions else ""


def _section(one: Described, shared: dict[str, str]) -> Iterator[str]:
    suite = one.suite
    yield f"#### {markdown.code(suite.name)}"
    if contrast := one.tag("contrast", "description"):
        yield markdown.text(_as_sentence(contrast))
    if suite.items:
        yield _examples(suite, suite.items[0])
    yield " ".join([f"{markdown.counted(one.items, 'item')}.", *_shape(suite)])
    for prediction in suite.predictions:
        yield f"Prediction {markdown.code(prediction.name)}: {_prediction(suite, prediction.formula)}"
        yield "\n".join(f"    {line}" for line in _lines(prediction.formula))
    if notes := [_note(name, suite.tags[name]) for name in _NOTED if name in suite.tags and name not in shared]:
        yield " ".join(notes)


def _as_sentence(words: str) -> str:
    """With a capital and a full stop; the words are the author's own."""
    return words[:1].upper() + words[1:] + ("" if words[-1:] in ".!?" else ".")


def _shape(suite: Suite) -> Iterator[str]:
    """The regions, and how tokens make the value of one, if they are not summed."""
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
    level = chance.known(formula)
    said = f"chance {level}" if str(level) else level.method
    return f"{in_words(formula, _labels(suite))}; {said}."


def _lines(formula: Formula) -> list[str]:
    """The formula with a line for each part of the outermost conjunction."""
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
    """The sentence with the regions that are compared in bold, neighbours together."""
    references = [one for prediction in suite.predictions for one in prediction.formula.references()]
    compared = {one.region for one in references if one.condition == condition}
    pieces, at = [], 0
    spans = [(one.start, one.end) for one in sentence.regions if one.name in compared and one.start < one.end]
    for start, end in _joined(spans, sentence.text):
        pieces += [markdown.text(sentence.text[at:start]), markdown.bold(sentence.text[start:end])]
        at = end
    return "".join([*pieces, markdown.text(sentence.text[at:])])


def _joined(spans: Sequence[tuple[int, int]], text: str) -> list[tuple[int, int]]:
    """Spans with nothing but white space between them as one."""
    made: list[tuple[int, int]] = []
    for start, end in spans:
        if made and not text[made[-1][1] : start].strip():
            start = made.pop()[0]
        made.append((start, end))
    return made
