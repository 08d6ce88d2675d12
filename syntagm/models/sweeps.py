"""Names that stand for several models: patterns of folders, ranges in braces, options with several numbers; and orders."""

import glob
import os
import re
from collections.abc import Sequence
from itertools import product
from math import prod
from pathlib import Path
from urllib.parse import urlencode

from syntagm.core import UsageError, Whole, natural
from syntagm.models import families
from syntagm.models.names import parse

MOST = 10_000
_BRACES = re.compile(r"\{([^{}]*)\}")
_RANGE = re.compile(r"(\d{1,12})\.\.(\d{1,12})(?:\.\.(\d{1,12}))?")


def several(text: str) -> list[str]:
    """Return the names of the models that a name stands for; in most cases, the name itself.

    * `step{1000..3000..1000}` stands for step1000, step2000 and step3000, and `{a,b}` for a and b. Leading zeros are kept.
    * `ckpt/step*` stands for the folders that match, in natural order: step2 before step10.
    * `random?seed=1,2` stands for the option with each number.

    Raises:
        UsageError: a range is empty or has the wrong form, no folder matches, or there are more than 10,000 models.
        ModelError: as in `names.parse`.

    >>> several("org/name@step{1000..3000..1000}")
    ['org/name@step1000', 'org/name@step2000', 'org/name@step3000']
    >>> several("lstm:seed{08..10}?bos={yes,no}")[-2:]
    ['lstm:seed10?bos=yes', 'lstm:seed10?bos=no']
    >>> several("random?seed=1,2&unigram=yes")
    ['random?seed=1&unigram=yes', 'random?seed=2&unigram=yes']
    """
    found = [name for one in _braces(text) for folder in _folders(one) for name in _numbers(folder)]
    if len(found) > MOST:
        raise UsageError(f"model {text}", f"{len(found):,} models", f"at most {MOST:,}")
    return found


def label_part(text: str, model: str) -> str:
    """Return the part of a model's name that its label is made from.

    If the path has a pattern or braces, the part begins at the folder with the first of them. Otherwise, it is the last
    folder. It depends on no other model, so that models keep their labels when more folders match.

    Arguments:
        text: the name as given.
        model: the model, which is one of `several(text)`.

    >>> label_part("ckpt/seed*/best", "ckpt/seed1/best"), label_part("lstm:seed{1..3}?bos=no", "lstm:seed1?bos=no")
    ('seed1/best', 'seed1?bos=no')
    >>> label_part("org/gpt2-tiny@main", "org/gpt2-tiny@main"), label_part("masked:models/bert", "masked:models/bert")
    ('gpt2-tiny@main', 'bert')
    """
    address, question, options = model.partition("?")
    pattern = text.partition("?")[0]
    if first := re.search(r"[*{[]" if "*" in pattern else "{", pattern):
        parent, _, start = pattern[: first.start()].rpartition("/")
        # A pattern may have a slash twice, where the path of a match has one.
        folders = "/".join(_components(address)[len(_components(parent)) :])
        return folders[start.rfind(":") + 1 :] + question + options
    return (address.rstrip("/").rpartition("/")[2].rpartition(":")[2] or address) + question + options


def _components(path: str) -> list[str]:
    return [component for component in path.split("/") if component]


def coarse(count: int) -> list[int]:
    """Return places in an order in which a curve takes shape early: the first, the last, the middle, the quarters and so on.

    Of each gap, the place in the middle comes next; if two are in the middle, the earlier one. Gaps of one round are
    taken from left to right.

    >>> coarse(9), coarse(4)
    ([0, 8, 4, 2, 6, 1, 3, 5, 7], [0, 3, 1, 2])
    """
    if count < 2:
        return list(range(count))
    places, gaps = [0, count - 1], [(0, count - 1)]
    while gaps:
        middles = [(low, (low + high) // 2, high) for low, high in gaps if high - low > 1]
        places += [middle for _, middle, _ in middles]
        gaps = [gap for low, middle, high in middles for gap in ((low, middle), (middle, high))]
    return places


def largest(models: Sequence[str]) -> list[int]:
    """Return places in the order of the sizes of the models' files, largest first; those of one size stay in order.

    A name on the hub has no file, and so comes last.

    >>> largest(["toy", "gpt2"])
    [0, 1]
    """
    sizes = [_size(Path(parse(model).path)) for model in models]
    return sorted(range(len(models)), key=lambda place: -sizes[place])


def _size(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def folder_name(label: str) -> str:
    """Return the name of the folder of a model with this label. A label is kept whole: its beginning may be a group.

    >>> folder_name("GPT-2 (small)"), folder_name("Pythia: 70m"), folder_name("gpt2?bos=no")
    ('GPT-2-small', 'Pythia-70m', 'gpt2-bos-no')
    """
    return re.sub(r"[^\w.@+]+", "-", label).strip("-.") or "model"


def _braces(text: str) -> list[str]:
    choices = [_choices(match[1], text) for match in _BRACES.finditer(text)]
    if (count := prod(map(len, choices))) > MOST:
        raise UsageError(f"model {text}", f"{count:,} models", f"at most {MOST:,}")
    rest = _BRACES.split(text)[::2]
    if choices and any(brace in part for part in rest for brace in "{}"):
        raise UsageError(f"model {text}", "braces in braces, or one that is open", "{first..last} or {one,other}")
    return [
        "".join(part for pair in zip(rest, (*chosen, ""), strict=True) for part in pair) for chosen in product(*choices)
    ]


def _choices(inner: str, text: str) -> list[str]:
    expected = "{first..last}, {first..last..step} or {one,other}"
    if not (match := _RANGE.fullmatch(inner)):
        if ".." in inner or not all(values := inner.split(",")) or len(values) < 2:
            raise UsageError(f"model {text}", f"{{{inner}}}", expected)
        return values
    first, last, step = int(match[1]), int(match[2]), int(match[3] or 1)
    if not step or last < first:
        raise UsageError(f"model {text}", f"the empty range {{{inner}}}", expected)
    if (last - first) // step >= MOST:
        raise UsageError(f"model {text}", f"more than {MOST:,} models in {{{inner}}}", f"at most {MOST:,}")
    width = len(match[1]) if match[1].startswith("0") else 0
    return [str(number).zfill(width) for number in range(first, last + 1, step)]


def _folders(text: str) -> list[str]:
    address, question, options = text.partition("?")
    if "*" not in address:
        return [text]
    family, colon, path = address.partition(":")
    if not colon or family not in families.names():
        family, colon, path = "", "", address
    found = sorted((match for match in glob.glob(path) if os.path.isdir(match)), key=natural)
    if not found:
        raise UsageError(f"model {text}", "no folder that matches", "a pattern of folders, such as 'ckpt/step*'")
    if odd := next((match for match in found if "?" in match), ""):
        # What follows would be taken for options.
        raise UsageError(
            f"model {text}", f"a folder with ? in its name: {odd}", "folders without it", "Rename the folder."
        )
    return [f"{family}{colon}{match}{question}{options}" for match in found]


def _numbers(text: str) -> list[str]:
    if "," not in text.partition("?")[2]:
        return [text]
    name = parse(text)
    options = families.find(name.family).options
    numeric = {option for option in name.options if option in options and isinstance(options[option].values, Whole)}
    values = [value.split(",") if option in numeric else [value] for option, value in name.options.items()]
    if any(len(chosen) > 1 and "" in chosen for chosen in values):
        raise UsageError(f"model {text}", "an empty value", "a number before and after each comma")
    address = text.partition("?")[0]
    return [
        f"{address}?{urlencode(list(zip(name.options, chosen, strict=True)), safe='/:,')}"
        for chosen in product(*values)
    ]
