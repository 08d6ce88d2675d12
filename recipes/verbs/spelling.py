"""The third person singular by rule and exceptions, and the spelling variants of verbs."""

import csv
import re
from collections.abc import Collection
from pathlib import Path

FOLDER = Path(__file__).parent
# Here -ise is no suffix, so British and American spelling are the same.
NOT_IZE = re.compile("(advert|appr|compr|comprom|exc|exerc|exorc|merchand|pr|superv|surpr)ise")


def rule(lemma: str) -> str:
    """Form the third person singular: -s; -es after a sibilant and after -o; -ies for -y after a consonant."""
    if re.search(r"[^aeiou]y$", lemma):
        return lemma[:-1] + "ies"
    return lemma + ("es" if re.search(r"(s|x|z|ch|sh|o)$", lemma) else "s")


def exceptions() -> dict[str, str]:
    """Read the verbs whose third person singular the rule gets wrong."""
    with (FOLDER / "exceptions.csv").open(encoding="utf-8", newline="") as file:
        return {row["lemma"]: row["singular"] for row in csv.DictReader(file)}


def listed(name: str) -> list[str]:
    """Read the words of a file in this folder, without comments and headings in brackets."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    return [word for line in text.splitlines() if line[:1] not in ("#", "[") for word in line.split()]


def variants(lemmas: Collection[str]) -> dict[str, str]:
    """Return the spelling variants: spelling -> the spelling in the list."""
    spellings: dict[str, str] = {}
    for lemma in lemmas:
        for british, american in (("ise", "ize"), ("yse", "yze"), ("our", "or")):
            other = lemma.removesuffix(british) + american
            if lemma.endswith(british) and other in lemmas and not NOT_IZE.fullmatch(lemma):
                spellings[lemma] = other
    for line in (FOLDER / "spellings.txt").read_text(encoding="utf-8").splitlines():
        kept, _, others = line.partition(":")
        spellings |= {} if line[:1] == "#" else dict.fromkeys(others.split(), kept)
    return spellings
