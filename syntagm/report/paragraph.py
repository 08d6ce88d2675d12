"""The paragraphs of `methods` as HTML, with citations by authors and years."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from syntagm.core import extras
from syntagm.report import methods, references
from syntagm.runs import Run

_AUTHORS = re.compile(r"author = \{(.+)\},")
_YEAR = re.compile(r"year = \{(\d+)\}")
_ACCENT = re.compile(r'\{\\"([a-zA-Z])\}')
_PIECE = re.compile(r"( \[@[\w; @-]+\]|`[^`]*`)")
_UMLAUTS = dict(zip("aouAOU", "äöüÄÖÜ", strict=True))


@dataclass(frozen=True, slots=True)
class MethodsText:
    """The methods section of a page."""

    paragraphs: tuple[Markup, ...]  # the paragraphs, as HTML
    bibliography: str  # everything that they cite, as BibTeX
    unknown: tuple[str, ...]  # a sentence for each suite whose source is not known


def methods_text(runs: Sequence[Run]) -> MethodsText:
    """Return the methods section about runs that `syntagm cite` writes."""
    paragraphs = tuple(html(paragraph) for paragraph in methods.paragraphs(runs))
    bibliography = references.bibtex(methods.keys(runs), runs, extras.version("syntagm"))
    return MethodsText(paragraphs, bibliography, tuple(methods.list_unknown_sources(runs)))


def html(paragraph: str) -> Markup:
    r"""Convert a paragraph of `methods` to HTML, escaping everything in it.

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
    """Return the authors and the year of an entry in the bibliography, as cited in a text.

    >>> short("hu-etal-2020-systematic"), short("kneser-ney-1995-improved"), short("hochreiter-schmidhuber-1997-long")
    ('Hu et al. 2020', 'Kneser & Ney 1995', 'Hochreiter & Schmidhuber 1997')
    """
    entry = references.entries()[key]
    authors, year = _AUTHORS.search(entry), _YEAR.search(entry)
    names = _ACCENT.sub(lambda match: _UMLAUTS.get(match[1], match[1]), authors[1] if authors else key).split(" and ")
    surnames = [name.partition(",")[0] for name in names]
    cited = f"{surnames[0]} et al." if len(surnames) > 2 or "others" in surnames else " & ".join(surnames)
    return f"{cited} {year[1]}" if year else cited
