"""The paradigms of paradigms.toml, which describes the fields."""

import tomllib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Paradigm:
    term: str
    field: str
    good: tuple[str, ...]
    bad: tuple[str, ...]
    edit: str = "word"
    relation: str = ""
    never: tuple[str, ...] = ()
    prefix: str = ""


PARADIGMS = {
    uid: Paradigm(**row)
    for uid, row in tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")).items()
}
