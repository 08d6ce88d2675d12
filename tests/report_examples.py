"""Suites and hostile runs for the tests of figures and reports, and a reader of pages."""

import csv
import io
from html.parser import HTMLParser
from pathlib import Path
from unittest.mock import patch
from urllib.parse import unquote

from fill_for_tests import Drawn
from toy_runs import pairs

from syntagm.models import load
from syntagm.report import report
from syntagm.runs import Run, fill, run_suites as run
from syntagm.suites import Item, Prediction, Region, Sentence, Suite, WordList, WordRow, parse

ATTACKS = (
    "<script>document.title='pwned'</script>",
    "</script><script>document.title='pwned'</script>",
    "<img src=x onerror=\"document.title='pwned'\">",
    "\"><svg onload=alert(1)>' onmouseover='alert(1)",
    "{{ 7*7 }}${7*7}<%= 7*7 %>{% raw %}",
    "a\u2028b\u2029c\u202ed",
    "javascript:alert(1)",
    "]]><!-- --!><style>*{display:none}</style>",
    "datum['x'] || alert(1) \\u003cscript>",
    '=HYPERLINK("http://example.invalid","x")',
    "../../../etc/passwd\x07\x00",
)


def gaps() -> Suite:
    """Two items; region 2 is empty throughout in `gap`, region 3 in one item of `full`."""

    def made(*contents: str) -> Sentence:
        text, regions = "", []
        for number, content in enumerate(contents, 1):
            text += " " if text and content else ""
            regions.append(Region(str(number), len(text), len(text) + len(content)))
            text += content
        return Sentence(text, tuple(regions))

    items = (
        Item("1", {"full": made("The dog", "barks", "at the cat"), "gap": made("The dog", "", "barks")}),
        Item("2", {"full": made("The cat", "sleeps", ""), "gap": made("The cat", "", "sleeps")}),
    )
    tags = {"region.1": "subject", "region.2": "verb", "contrast": "With and without a verb."}
    return Suite("gaps", items, (Prediction("0", parse("(1;%full%) < (2;%full%)")),), tags)


def crossed() -> Suite:
    """One item in which a token reaches over a border: everything is undefined."""
    over = Sentence("dogs bark", (Region("1", 0, 2), Region("2", 2, 9)))
    return Suite(
        "crossed", (Item("1", {"good": over, "bad": over}),), (Prediction("0", parse("(1;%good%) < (1;%bad%)")),)
    )


def hostile(folder: Path) -> Run:
    """A run in which every text that others write is an attack."""
    suites = []
    for number, attack in enumerate(ATTACKS):
        regions = (Region(attack, 0, 7), Region(f"{attack} {number}", 8, 8 + len(attack)))
        text = Sentence(f"The dog {attack}", regions)
        conditions = {attack: text, f"{attack}2": Sentence(text.text, regions[:1])}
        tags = dict.fromkeys(
            ("circuit", "phenomenon", "comment", "contrast", attack, f"region.{attack}", "chance"), attack
        )
        suites.append(Suite(attack, (Item(attack, conditions, {attack: attack}),), (), tags))
    formula = parse("(*;%good%) < (*;%bad%)")
    pairs = [(Sentence(f"the dog {attack}"), Sentence(f"the dogs {attack}")) for attack in ATTACKS]
    items = tuple(Item(attack, {"good": good, "bad": bad}) for attack, (good, bad) in zip(ATTACKS, pairs, strict=True))
    names = tuple(Prediction(attack, formula) for attack in ATTACKS)
    toy = load("toy")
    toy.name = ATTACKS[1]
    # `run` would refuse such names; but a run directory may come from anyone.
    refused = "syntagm.evaluation.predictions.refuse_no_predictions"
    with patch("syntagm.runs.engine.violations", lambda suites: []), patch(refused, lambda suite: None):
        return run(toy, [*suites, Suite("pairs", items, names, {"field": ATTACKS[0]})], folder)


def hostile_fill(folder: Path) -> Run:
    """A run over gaps in which every text that others write is an attack."""
    attacks = ATTACKS[:6]
    tags = ("construction", "comment", "circuit")
    suites = [pairs(one, (f"The {one} barks.", f"The {one} bark."), tags=dict.fromkeys(tags, one)) for one in attacks]
    rows = (WordRow("bark", ("barks", "bark"), {"band": "1"}),)
    rows += tuple(WordRow(one, (f"{one}s", one.strip()), {"band": "1"}) for one in attacks)
    words = WordList(ATTACKS[0], ("singular", "plural"), rows)
    model = Drawn([*(form for row in rows for form in row.forms), *"abcdefghij"])
    model.name = ATTACKS[1]
    # `fill` would refuse such names; but a run directory may come from anyone.
    with patch("syntagm.runs.engine.violations", lambda suites: []):
        return fill(model, suites, words, folder, top=[0.9])


class Reader(HTMLParser):
    """Elements with their attributes, the text outside scripts and styles, and the content of those."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text, self.raw, self._in = "", {"script": [], "style": []}, ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._in = tag if tag in self.raw else self._in

    def handle_endtag(self, tag):
        self._in = "" if tag == self._in else self._in

    def handle_data(self, data):
        if self._in:
            self.raw[self._in].append(data)
        else:
            self.text += data


def written(path: Path, *runs: Run) -> Reader:
    return Reader(report(runs, path / "report.html").read_text("utf-8"))


def saved(page: Reader) -> dict[str, list[dict[str, str]]]:
    """The CSV files that the page holds, by name."""
    links = [found for tag, found in page.elements if tag == "a" and "download" in found]
    texts = {found["download"]: unquote(found["href"].partition(",")[2]) for found in links}
    return {name: list(csv.DictReader(io.StringIO(text))) for name, text in texts.items()}
