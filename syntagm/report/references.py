"""What runs cite: the works that suites name, and those that the families of their models declare."""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache

from syntagm.core import UsageError, bibliography, shown
from syntagm.evaluation import SuiteRecord
from syntagm.models import SURPRISAL, Scoring, families
from syntagm.runs import Run, settings

_MENTION = re.compile(
    r"\b([A-Z][\w'’-]+(?:, [A-Z][\w'’-]+)*(?: et al\.?| (?:and|&) [A-Z][\w'’-]+)?)(?:, | \(| )((?:19|20)\d\d)\b"
)
GAPS = "newman-etal-2021-refining"


@cache
def entries() -> dict[str, str]:
    """Return the entries of the bibliography and those that families of other packages bring, by key."""
    found: dict[str, str] = {}
    for family in families.every().values():
        with suppress(UsageError):  # `families.find` refuses the family where it is used
            found |= family.brought
    return found | bibliography.entries()


def find_mentioned(text: str) -> tuple[list[str], list[str]]:
    """Return the keys of the works that a text names by author and year, and the names of works not in the bibliography.

    >>> find_mentioned("Hu et al. 2020; after Wilcox et al. 2018")
    (['hu-etal-2020-systematic', 'wilcox-etal-2018-rnn'], [])
    >>> find_mentioned("after Nobody and Noone 1999")
    ([], ['Nobody and Noone 1999'])
    """
    keys, unknown = [], []
    for match in _MENTION.finditer(text):
        surname = re.split(r"[ ,]", match[1])[0].lower()
        matches = [key for key in entries() if key.split("-")[0] == surname and match[2] in key.split("-")]
        keys += matches
        unknown += [] if matches else [f"{match[1]} {match[2]}"]
    return list(dict.fromkeys(keys)), list(dict.fromkeys(unknown))


def of_suite(suite: SuiteRecord) -> tuple[list[str], list[str]]:
    """Return the keys of a suite's sources, and the names of sources that are not in the bibliography."""
    # The sources are those that the tags name and, for suites in the form of BLiMP or SyntaxGym, the papers about
    # these.
    keys, unknown = find_mentioned("; ".join(suite.tags.get(name, "") for name in ("reference", "paper")))
    if {"UID", "linguistics_term"} <= suite.tags.keys():  # the fields of BLiMP
        keys.append("warstadt-etal-2020-blimp")
    if suite.region_labels and all(name.isdigit() for name in suite.region_labels):  # regions as SyntaxGym counts them
        keys.append("gauthier-etal-2020-syntaxgym")
    return list(dict.fromkeys(keys)), unknown


def of_model(run: Run) -> list[str]:
    """Return the keys of the papers on the model's family, its architecture and the programs that compute it."""
    family = families.of_model(run.model)
    return family.cites(run.record["model"]["record"]) if family else []


def of_scoring(run: Run) -> list[str]:
    """Return the keys of the papers on the scoring: on the family, its settings, and the measures of gaps."""
    family = families.of_model(run.model)
    keys = list(scoring(run).references)
    declared = [family.known(setting, value) for setting, value in settings(run).items()] if family else []
    keys += [key for value in declared if value for key in value.references]
    return [*keys, *([GAPS] if fills_gaps(run) else [])]


def scoring(run: Run) -> Scoring:
    family = families.of_model(run.model)
    if family is None:
        return SURPRISAL
    return family.filling if family.filling and fills_gaps(run) else family.scoring


def fills_gaps(run: Run) -> bool:
    return run.task.name == "gaps"


def bibtex(keys: Iterable[str], runs: Sequence[Run], version: str) -> str:
    """Return BibTeX: the entries with these keys in order, without repetition, an entry for each model, and one for Syntagm."""
    cited = [entries()[key] for key in dict.fromkeys(keys)]
    models = {_model_key(run): _model_entry(run) for run in runs}
    title = "Syntagm: targeted syntactic evaluation of language models"
    software = _entry("syntagm", title=title, note=f"Version {version}")
    return "\n\n".join([*cited, *models.values(), software]) + "\n"


def _model_key(run: Run) -> str:
    safe = re.sub(r"[^A-Za-z0-9]+", "-", run.model.partition("?")[0]).strip("-")
    return f"model-{safe}-{run.record['model']['fingerprint'][:8]}"


def _model_entry(run: Run) -> str:
    model = run.record["model"]
    details = [run.model, f"fingerprint {model['fingerprint'][:16]}"]
    details += [
        f"{name} {str(model['record'][name])[:16]}" for name in ("revision", "weights") if model["record"].get(name)
    ]
    title = run.model.partition(":")[2].partition("?")[0] or run.model
    return _entry(_model_key(run), title=title, howpublished="Language model", note="; ".join(details))


def _entry(key: str, **fields: str) -> str:
    lines = "".join(f"  {name} = {{{_plain(value)}}},\n" for name, value in fields.items())
    return f"@misc{{{key},\n{lines}}}"


def _plain(text: str) -> str:
    """Return a text as the value of a BibTeX field: without braces, and with LaTeX's special characters escaped.

    >>> _plain("demo_1 {50%}")
    'demo\\\\_1 (50\\\\%)'
    """
    plain = " ".join(shown(text).replace("{", "(").replace("}", ")").replace("\\", "/").split())
    escaped = (
        re.sub(r"([&%$#_])", r"\\\1", plain).replace("~", r"\textasciitilde{}").replace("^", r"\textasciicircum{}")
    )
    return escaped.replace("⟨", r"$\langle$").replace("⟩", r"$\rangle$")
