"""A studio and a browser without a screen."""

import json
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlencode

from asking import HOST, Answer, ask, opened

from syntagm.studio import Studio
from syntagm.suites import Suite

HERE = {"origin": f"http://{HOST}", "content_type": "application/x-www-form-urlencoded"}
TWO_BY_TWO = (
    "item\tss:subject\tss:verb\tsp:subject\tsp:verb\tps:subject\tps:verb\tpp:subject\tpp:verb\n"
    "1\tThe dog\tbarks\tThe dog\tbark\tThe dogs\tbarks\tThe dogs\tbark\n"
    "2\tThe cat\tsleeps\tThe cat\tsleep\tThe cats\tsleeps\tThe cats\tsleep\n"
)


class Visitor:
    """A browser that is let in."""

    def __init__(
        self, folder: Path | None = None, models: Sequence[str] = ("toy",), suites: Sequence[Suite] = ()
    ) -> None:
        self.studio = Studio(models, folder, suites)
        self.application, self.header = opened(self.studio.routes())

    def get(self, target: str, **fields: str) -> Answer:
        return ask(self.application, target + (f"?{urlencode(fields)}" if fields else ""), **self.header)

    def post(self, target: str, **fields: str) -> Answer:
        return ask(self.application, target, "POST", urlencode(fields).encode(), **self.header, **HERE)


# Attacks that would call `hit` or show a dialog.
ATTACKS = [
    *("<script>alert(1)</script>", "</textarea><script>alert(1)</script>", "<img src=x onerror=alert(1)>"),
    *('"><svg/onload=alert(1)>', "' autofocus onfocus='alert(1)", "</option></select><script>alert(1)</script>"),
    *("javascript:alert(1)", "<svg onload=alert(1)>", '" autofocus onfocus="alert(1)', "--><script>alert(1)</script>"),
    *("<iframe srcdoc='<script>parent.alert(1)</script>'>", "</title><script>alert(1)</script>"),
    *("]]><script>alert(1)</script>", "<body onload=alert(1)>", "<input autofocus onfocus=alert(1)>"),
    *("<details open ontoggle=alert(1)>", "{{7*7}}{%x%}", "<a href=javascript:alert(1)>x</a>"),
    *("=cmd|' /C calc'!A1", "<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>"),
]


def attacked(attack: str) -> str:
    """A suite with an attack in every place that has a name or a text."""
    cell = '"' + attack.replace('"', '""') + '"'
    return (
        f"item\tcondition\t{cell}\tverb\ttag.{attack.replace(chr(34), '')}\n"
        f"#suite\t{cell}\t\t\t\n#tag\tx\t{cell}\t\t\n#prediction\t{cell}\t(verb;%a%) < (verb;%b%)\t\t\n"
        f"{cell}\ta\t{cell}\t{cell}\t{cell}\n{cell}\tb\t{cell}\tbark\t{cell}\n"
    )


def hostile() -> list[tuple[str, str, str]]:
    """100 hostile suites: (text, ending of its file, name). Each attack in all places, and texts of other kinds."""
    others = [
        "../" * 5 + "etc/passwd", "\x00", "item\t" + "\t".join(f"c:{k}" for k in range(3000)), '"' * 10_001,
        "item\tcondition\tv\n#prediction\tp\t" + "(" * 5000 + "\n", "\ud7ff\ufffe\u202e" * 1000,
        "item\tcondition\tv\n" + "1\ta\tx\n" * 8000, "\r" * 1000, "[[suite]]\n" * 5000, "[" * 100_000,
    ]  # fmt: skip
    quoted = [json.dumps(attack) for attack in ATTACKS]
    made = [(attacked(attack), ".tsv", attack) for attack in ATTACKS]
    made += [(attacked(attack).replace("\t", ","), ".csv", attack) for attack in ATTACKS]
    made += [(f"regions = {text}\n[conditions]\n{text} = {text}\n", ".toml", text) for text in quoted]
    made += [
        (f'{{"meta": {{"name": {text}, "metric": "sum"}}, "predictions": [{{"type": "formula", "formula": {text}}}], '
         f'"region_meta": {{"1": {text}}}, "items": [{{"item_number": 1, "conditions": [{{"condition_name": {text}, '
         f'"regions": [{{"region_number": 1, "content": {text}}}]}}]}}]}}', ".json", text)
        for text in quoted
    ]  # fmt: skip
    names = ("../../x", "/etc/x", ".ssh", "a/b", "..\\x")
    made += [(text, ending, names[k % 5]) for ending in (".tsv", ".json") for k, text in enumerate(others)]
    return made
