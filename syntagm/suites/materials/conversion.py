"""Conversion of suites to a format, with a report of what the format can't store."""

from collections.abc import Sequence
from pathlib import Path

from syntagm.core import InputError, UsageError, atomic, did_you_mean, public, registry
from syntagm.suites.materials.reading import formats
from syntagm.suites.materials.suite_files import Suites, suites_of
from syntagm.suites.suite import Suite, published


def writable() -> dict[str, tuple[str, ...]]:
    """Return the formats that can be written, with their file extensions.

    >>> writable()["blimp"]
    ('.jsonl',)
    """
    return {module.__name__.rpartition(".")[2]: module.WRITES for module in formats() if hasattr(module, "write")}


def whole() -> dict[str, tuple[str, str]]:
    """Return the formats that can store predictions: name or extension -> name and extension.

    >>> whole()["pairs"] == whole()["tsv"] == ("pairs", ".tsv")
    True
    """
    complete = {
        name: endings[0]
        for name, endings in writable().items()
        if getattr(registry.find("formats", name), "HOLDS_PREDICTIONS", True)
    }
    by_ending = {ending.removeprefix("."): (name, ending) for name, ending in reversed(complete.items())}
    return {name: (name, ending) for name, ending in complete.items()} | by_ending


def of_ending(ending: str) -> list[str]:
    """Return the formats whose files can have an extension, the most typical format first.

    >>> of_ending(".csv")
    ['syntaxgym_csv', 'pairs', 'spreadsheet']
    """
    places = {name: endings.index(ending) for name, endings in writable().items() if ending in endings}
    return sorted(places, key=places.__getitem__)


def write(suites: Sequence[Suite], path: Path, names: Sequence[str]) -> str:
    """Write suites in the first of several formats that can store them, and return its name."""
    # `names` are those of the formats, in order of preference.
    refusals: list[tuple[str, InputError]] = []
    for name in names:
        try:
            registry.find("formats", name).write(suites, path)
        except InputError as error:
            refusals.append((name, error))
        else:
            return name
    name, first = refusals[0]
    also = "".join(f"\n  Nor can {other}: {reason}" for other, reason in refusals[1:])
    raise InputError(f"{name} can't store it: {first.place}", first.found, first.expected, first.cure + also)


@public
def write_suites(suites: Suites, path: str | Path, format: str = "", *, lossy: bool = False) -> list[str]:
    """Write suites to a file.

    Arguments:
        suites: the suites, or names as in `read_suites`.
        path: the file.
        format: the name of a format that can be written (`writable`); the default follows from the extension of
            the path.
        lossy: whether to write even if the format can't store everything.

    Returns:
        A description of each loss; empty unless `lossy`.

    Raises:
        InputError: something would be lost; nothing is written.
        UsageError: there is no such format, or no format has this extension.
        RunError: the file can't be written.

    >>> from tempfile import TemporaryDirectory
    >>> from syntagm.suites.materials.suite_files import make, read_suites
    >>> with TemporaryDirectory() as folder:
    ...     write_suites(make("marvin2018/simple_agrmt", n=3), f"{folder}/pairs.tsv")
    ...     write_suites(read_suites("hu2020/mvrr"), f"{folder}/mvrr.json", lossy=True)  # SyntaxGym numbers its regions
    []
    ['predictions paper', 'the conditions, or regions and their names']
    """
    return convert(list(suites_of(suites)), Path(path), formats_for(Path(path), format), lossy)


def formats_for(target: Path, name: str = "", also: Sequence[str] = ()) -> Sequence[str]:
    """Return the formats in which a file can be written, in the order in which they are tried."""
    known = writable()
    named = [*known, *also]
    if name:
        if name not in known:
            raise UsageError("--as", repr(name), "one of " + ", ".join(named), did_you_mean(name, named))
        return (name,)
    if formats := of_ending(target.suffix):
        return formats
    endings = sorted({ending for format_endings in known.values() for ending in format_endings})
    cure = f"Use --as with one of {', '.join(named)}."
    raise UsageError(str(target), f"the extension {target.suffix!r}", "one of " + ", ".join(endings), cure)


def convert(suites: Sequence[Suite], target: Path, formats: Sequence[str], lossy: bool = False) -> list[str]:
    """Write suites in the first format that can store them without loss, or otherwise in the first that can store them."""
    # Before the file gets its final name, it is read again and compared with the suites.
    suites = [published(suite) for suite in suites]
    with atomic.replacing(target) as written:
        name, losses = _written(suites, written, formats)
        if losses and not lossy:
            raise InputError(
                str(target), f"{name} can't store everything", "a format that can",
                "Nothing was written. Add --lossy (lossy=True) to convert without the following:\n  " + "\n  ".join(losses),
            )  # fmt: skip
    return losses


def _written(suites: Sequence[Suite], path: Path, formats: Sequence[str]) -> tuple[str, list[str]]:
    """Write in the first format that loses nothing, otherwise in the first that can be written; return it and the losses."""
    losses: dict[str, list[str]] = {}
    remaining = list(formats)
    while remaining:
        try:
            name = write(suites, path, remaining)
        except InputError:
            if not losses:
                raise
            break
        if not (lost := _losses(suites, path, name)):
            return name, []
        losses[name] = lost
        remaining = remaining[remaining.index(name) + 1 :]
    first = next(iter(losses))
    if len(losses) > 1:
        write(suites, path, [first])
    return first, losses[first]


def _losses(suites: Sequence[Suite], written: Path, name: str) -> list[str]:
    """Return the differences that reading the file again shows."""
    # Tags that only preserve details of the old format are ignored.
    reread = list(registry.find("formats", name).read(written))
    if len(reread) != len(suites):
        return [f"{len(suites)} suites become {len(reread)}"]
    losses: dict[str, None] = {}
    for old, new in zip(suites, reread, strict=True):
        for difference in _differences(old, new):
            losses[difference if len(suites) == 1 else f"suite {old.name}: {difference}"] = None
    return list(losses)


def _differences(old: Suite, new: Suite) -> list[str]:
    differences = [] if old.name == new.name else [f"the name {old.name!r} becomes {new.name!r}"]
    if old.predictions != new.predictions:
        missing = [prediction.name for prediction in old.predictions if prediction not in new.predictions]
        differences.append("predictions " + ", ".join(missing))
    if old.aggregate != new.aggregate:
        differences.append(f"the metric {old.aggregate} becomes {new.aggregate}")
    if [item.id for item in old.items] != [item.id for item in new.items]:
        return [*differences, "the ids or the order of items"]
    for old_item, new_item in zip(old.items, new.items, strict=True):
        if list(old_item.sentences.items()) != list(new_item.sentences.items()):
            texts = [[sentence.text for sentence in item.sentences.values()] for item in (old_item, new_item)]
            differences.append("sentences" if texts[0] != texts[1] else "the conditions, or regions and their names")
        before, after = {**old.tags, **old_item.tags}, {**new.tags, **new_item.tags}
        differences += [
            f"tag {key}" for key, value in before.items() if not key.startswith("json:") and after.get(key) != value
        ]
    return list(dict.fromkeys(differences))
