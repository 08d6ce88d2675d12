"""The bibliography: what suites name as their source, what models are, and what a method rests on, as BibTeX.

The entries stand in `materials/cited/references.bib`; a key is the first author's name, ..., the year, a word.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from syntagm.models import families
from syntagm.models.family import SURPRISAL
from syntagm.runs.store import Run
from syntagm.tasks.task import SuiteRecord

_FILE = Path(__file__).resolve().parent.parent / "materials" / "cited" / "references.bib"
_KEY = re.compile(r"@\w+\{([^,]+),")
_MENTION = re.compile(
    r"\b([A-Z][\w'’-]+(?:, [A-Z][\w'’-]+)*(?: et al\.?| (?:and|&) [A-Z][\w'’-]+)?)(?:, | \(| )((?:19|20)\d\d)\b"
)
BLANKS = "newman-etal-2021-refining"


@cache
def entries() -> dict[str, str]:
    """Key -> entry, as it stands in the file.

    >>> "hu-etal-2020-systematic" in entries()
    True
    """
    blocks = re.split(r"\n(?=@)", _FILE.read_text(encoding="utf-8").strip())
    return {match[1]: block.strip() for block in blocks if (match := _KEY.match(block))}


def mentioned(text: str) -> tuple[list[str], list[str]]:
    """The keys of the works that a text names by author and year, and the names of those that are not known here.

    >>> mentioned("Hu et al. 2020; after Wilcox et al. 2018")
    (['hu-etal-2020-systematic', 'wilcox-etal-2018-rnn'], [])
    >>> mentioned("after Nobody and Noone 1999")
    ([], ['Nobody and Noone 1999'])
    """
    keys, unknown = [], []
    for match in _MENTION.finditer(text):
        surname = re.split(r"[ ,]", match[1])[0].lower()
        found = [key for key in entries() if key.split("-")[0] == surname and match[2] in key.split("-")]
        keys += found
        unknown += [] if found else [f"{match[1]} {match[2]}"]
    return list(dict.fromkeys(keys)), list(dict.fromkeys(unknown))


def of_suite(suite: SuiteRecord) -> tuple[list[str], list[str]]:
    """What a suite rests on: the works that its tags name, and those of the collection that its tags give away."""
    keys, unknown = mentioned("; ".join(suite.tags.get(name, "") for name in ("reference", "paper")))
    if {"UID", "linguistics_term"} <= suite.tags.keys():  # the fields of BLiMP
        keys.append("warstadt-etal-2020-blimp")
    if suite.region_labels and all(name.isdigit() for name in suite.region_labels):  # regions as SyntaxGym counts them
        keys.append("gauthier-etal-2020-syntaxgym")
    return list(dict.fromkeys(keys)), unknown


def of_model(run: Run) -> list[str]:
    """What a model's family, its architecture and the programs that compute it rest on."""
    family = families.of_model(run.model)
    return family.cites(run.record["model"]["record"]) if family else []


def of_scoring(run: Run) -> list[str]:
    """What the way of scoring rests on: that of the family, its settings, the measures of blanks."""
    family = families.of_model(run.model)
    keys = list((family.scoring if family else SURPRISAL).references)
    known = [family.known(setting, value) for setting, value in settings(run).items()] if family else []
    keys += [key for value in known if value for key in value.references]
    return [*keys, *([BLANKS] if is_fill(run) else [])]


def settings(run: Run) -> dict[str, str]:
    """The scoring settings of a model that matter in a run: those of gaps where gaps were filled."""
    family, policies = families.of_model(run.model), run.record["model"]["policies"]
    others = family.gaps_only if family and not is_fill(run) else frozenset()
    return {name: str(value) for name, value in policies.items() if name not in others}


def is_fill(run: Run) -> bool:
    """Does the run fill blanks?"""
    return run.task.name == "gaps"


def bibtex(keys: Iterable[str], runs: Sequence[Run], version: str) -> str:
    """The entries, one for each model, and one for this program; keys in order, once each."""
    known = [entries()[key] for key in dict.fromkeys(keys)]
    models = {_model_key(run): _model_entry(run) for run in runs}
    title = "Syntagm: targeted syntactic evaluation of language models"
    software = _entry("syntagm", title=title, note=f"Version {version}")
    return "\n\n".join([*known, *models.values(), software]) + "\n"


def _model_key(run: Run) -> str:
    harmless = re.sub(r"[^A-Za-z0-9]+", "-", run.model.partition("?")[0]).strip("-")
    return f"model-{harmless}-{run.record['model']['fingerprint'][:8]}"


def _model_entry(run: Run) -> str:
    model = run.record["model"]
    about = [run.model, f"fingerprint {model['fingerprint'][:16]}"]
    about += [
        f"{name} {str(model['record'][name])[:16]}" for name in ("revision", "weights") if model["record"].get(name)
    ]
    title = run.model.partition(":")[2].partition("?")[0] or run.model
    return _entry(_model_key(run), title=title, howpublished="Language model", note="; ".join(about))


def _entry(key: str, **fields: str) -> str:
    lines = "".join(f"  {name} = {{{_plain(value)}}},\n" for name, value in fields.items())
    return f"@misc{{{key},\n{lines}}}"


def _plain(text: str) -> str:
    """Text as it can stand in a field: without braces, and with what LaTeX takes for commands escaped.

    >>> _plain("demo_1 {50%}")
    'demo\\\\_1 (50\\\\%)'
    """
    plain = " ".join(text.replace("{", "(").replace("}", ")").replace("\\", "/").split())
    return re.sub(r"([&%$#_])", r"\\\1", plain).replace("~", r"\textasciitilde{}").replace("^", r"\textasciicircum{}")
