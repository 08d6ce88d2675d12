"""The texts and settings of an experiment, which the experimenter edits: what people read, and how they are reached."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from syntagm.core import InputError, atomic, counted, toml, utf8
from syntagm.experiment import presets
from syntagm.experiment.designs import Design
from syntagm.experiment.plan import Plan

FOLDER = "texts"
SETTINGS = "study.toml"
MAX_TEXT = 20_000

# What is nobody's: addresses that are reserved for examples, as in the settings that `write` writes, and what stands for none.
_NOBODY = re.compile(r"CONTACT|[\w.+-]+@(?i:example\.(?:com|net|org))\b")
_CONSENT = """# Taking part

You are invited to take part in a study of how people understand sentences. It takes about MINUTES. You will read
sentences and answer simple questions about them.

What is stored: your answers, how long you took for each, and when you took part. Your name is not asked, and no address
of your computer is stored. If you came here from a panel, its number for you is stored only in a form that can't be
turned back once the study is closed.

You can stop at any time, by closing the page, and give no reason. You can ask us to delete your answers: write to CONTACT
and name the code that you see at the end.

By going on you confirm that you are at least 18 years old, and that you agree to take part.
"""
_DEBRIEFING = """# Thank you!

This study compares which sentences people find natural with which ones computer models of language expect. If you have
questions, or want your answers to be deleted, write to CONTACT and name your code.
"""
_SETTINGS = """# Settings of this study. Edit them before the first person takes part.

# The heading of the pages.
title = "Reading sentences"
# Where people can write to.
contact = "name@example.org"
# The language of the sentences, for browsers: a code such as en or de.
language = "en"
# What a panel expects at the end. For Prolific: the completion code of the study.
completion_code = ""
# Minutes without a sign of life after which the place of a person on a list is free again.
timeout = 30
# Where a page that runs without Syntagm sends answers: a plain address that takes POST, or nothing.
address = ""
# Or DataPipe's number of the experiment, if answers go to the OSF through it.
datapipe = ""
# Questions that are asked at the end. Ask nothing that you don't need.
ask = ASK
"""


@dataclass(frozen=True, slots=True)
class Texts:
    """What people read, in a small part of Markdown: headings, paragraphs, emphasis."""

    consent: str
    instructions: str
    question: str
    debriefing: str
    reference: str = ""  # for magnitude estimation, the reference sentence


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a study; see the comments of the file that `syntagm experiment make` writes."""

    title: str
    contact: str
    language: str
    completion_code: str
    timeout: int
    address: str
    datapipe: str
    ask: tuple[str, ...]


def write(folder: Path, made: Plan) -> None:
    """Write the texts and settings, but leave those that exist already as they are."""
    # The time in the consent form is estimated from the number of trials of a person.
    design, trials = made.design, len(made.lists[0])
    confirmed = presets.find(made.preset).confirmed if made.preset else ""
    seconds = {"choice": 5, "rating": 6, "times": 9}[design.answer]
    minutes = counted(max(1, round(trials * seconds / 60)), "minute")
    reference = "The boy that the dog chased ran to the house."
    contents = {
        "consent.md": _CONSENT.replace("MINUTES", minutes).replace("years old,", f"years old{confirmed},"),
        "instructions.md": f"# What to do\n\n{design.instructions}\n",
        "question.md": f"{design.question}\n",
        "debriefing.md": _DEBRIEFING,
        **({"reference.md": f"{reference}\n"} if design.name == "magnitude" else {}),
    }
    atomic.make_folder(folder / FOLDER)
    for name, content in contents.items():
        path = folder / FOLDER / name
        if not path.exists():
            atomic.write(path, content.encode())
    if not (folder / SETTINGS).exists():
        ask = "[]" if made.questions else '["Is English your first language? (yes or no)"]'
        atomic.write(folder / SETTINGS, _SETTINGS.replace("ASK", ask).encode())


def asked_at_end(made: Plan, settings: Settings) -> list[str]:
    """Return the questions at the end: those of the plan, then those of the settings."""
    return [*(text for text, _ in made.questions), *settings.ask]


def read(folder: Path, design: Design) -> Texts:
    names = ("consent", "instructions", "question", "debriefing")
    found = {name: _text(folder / FOLDER / f"{name}.md") for name in names}
    if design.name == "magnitude":
        found["reference"] = _text(folder / FOLDER / "reference.md").strip()
    contact = settings(folder).contact.strip() or "CONTACT"
    return Texts(**{name: text.replace("CONTACT", contact) for name, text in found.items()})


def unreachable(folder: Path, design: Design) -> InputError | None:
    """Return an error if what people read names an address that is only an example, or none where one should stand."""
    shown = read(folder, design)
    if not (nobody := _NOBODY.search("\n".join((shown.consent, shown.instructions, shown.debriefing)))):
        return None
    expected = "an address at which people can ask for their answers to be deleted"
    found = "nothing" if nobody[0] == "CONTACT" else f"the example {nobody[0]}"
    return InputError(f"{folder / SETTINGS}, contact", found, expected, "Write yours into the file.")


def _text(path: Path) -> str:
    text = utf8.read(path)
    if not text.strip() or len(text) > MAX_TEXT:
        raise InputError(str(path), f"{len(text):,} characters", f"a text of 1 to {MAX_TEXT:,}")
    return text


_TYPES: dict[str, type] = {
    "title": str, "contact": str, "language": str, "completion_code": str, "timeout": int, "address": str,
    "datapipe": str, "ask": list,
}  # fmt: skip


def settings(folder: Path) -> Settings:
    """Read study.toml."""
    path = folder / SETTINGS
    content: dict[str, Any] = toml.read(utf8.read(path), str(path))
    for name in content:
        if name not in _TYPES:
            raise InputError(f"{path}, {name}", "an unknown setting", "one of " + ", ".join(_TYPES))
    for name, kind in _TYPES.items():
        if not isinstance(content.get(name), kind) or isinstance(content[name], bool):
            expected = {str: "a text in quotation marks", int: "a whole number", list: "a list of texts"}[kind]
            raise InputError(f"{path}, {name}", repr(content.get(name)), expected)
    if not all(isinstance(question, str) and 0 < len(question) <= 300 for question in content["ask"]):
        raise InputError(f"{path}, ask", repr(content["ask"])[:100], "a list of texts of at most 300 characters")
    if content["timeout"] < 1:
        raise InputError(f"{path}, timeout", str(content["timeout"]), "at least 1 minute")
    if content["address"] and not content["address"].startswith(("https://", "http://", "/")):
        raise InputError(f"{path}, address", repr(content["address"]), "an address that begins with https://")
    if content["address"] and content["datapipe"]:
        raise InputError(f"{path}", "address and datapipe", "one of them")
    return Settings(**{name: content[name] for name in _TYPES if name != "ask"}, ask=tuple(content["ask"]))
