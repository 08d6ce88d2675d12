"""The methods paragraphs of `methods` as HTML on a page, with authors and years where the citations stand."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version

from markupsafe import Markup, escape

from syntagm.report import methods, references
from syntagm.runs.store import Run

_AUTHORS = re.compile(r"author = \{(.+)\},")
_YEAR = re.compile(r"year = \{(\d+)\}")
_ACCENT = re.compile(r'\{\\"([a-zA-Z])\}')
_PIECE = re.compile(r"( \[@[\w; @-]+\]|`[^`]*`)")
_UMLAUTS = dict(zip("aouAOU", "äöüÄÖÜ", strict=True))


@dataclass(frozen=True, slots=True)
class Said:
    """What some runs' methods were, to stand on a page.

    Arguments:
        paragraphs: as HTML.
        bibliography: everything that they cite, as BibTeX.
        unknown: a sentence for each suite whose source is not known.
    """

    paragraphs: tuple[Markup, ...]
    bibliography: str
    unknown: tuple[str, ...]


def said(runs: Sequence[Run]) -> Said:
    """The methods of some runs, as `syntagm cite` writes them."""
    found = tuple(html(one) for one in methods.paragraphs(runs))
    bibliography = references.bibtex(methods.keys(runs), runs, version("syntagm"))
    return Said(found, bibliography, tuple(methods.unknown(runs)))


def html(paragraph: str) -> Markup:
    r"""A paragraph of `methods` as HTML; whatever else stands in it is text.

    >>> html("Surprisal [@hale-2001-probabilistic; @marvin-linzen-2018-targeted] of `a<b`, \\*all\\*.")
    Markup('Surprisal (Hale 2001; Marvin &amp; Linzen 2018) of <code><bdi>a&lt;b</bdi></code>, *all*.')
    """
    return Markup("").join(map(_piece, _PIECE.split(paragraph)))


def _piece(piece: str) -> Markup:
    if piece.startswith(" [@"):
        known = [key for key in re.findall(r"@([\w-]+)", piece) if key in references.entries()]
        return Markup(" (%s)") % "; ".join(map(short, known)) if known else Markup("")
    if piece.startswith("`"):
        return Markup("<code><bdi>%s</bdi></code>") % piece[1:-1]
    return escape(re.sub(r"\\(.)", r"\1", piece))


def short(key: str) -> str:
    """Who and when: an entry of the bibliography as it is cited in a text.

    >>> short("hu-etal-2020-systematic"), short("kneser-ney-1995-improved"), short("hochreiter-schmidhuber-1997-long")
    ('Hu et al. 2020', 'Kneser & Ney 1995', 'Hochreiter & Schmidhuber 1997')
    """
    entry = references.entries()[key]
    authors, year = _AUTHORS.search(entry), _YEAR.search(entry)
    named = _ACCENT.sub(lambda match: _UMLAUTS.get(match[1], match[1]), authors[1] if authors else key).split(" and ")
    surnames = [one.partition(",")[0] for one in named]
    who = f"{surnames[0]} et al." if len(surnames) > 2 or "others" in surnames else " & ".join(surnames)
    return f"{who} {year[1]}" if year else who
