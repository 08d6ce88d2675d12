"""Write a suite in another format.

    syntagm convert suite.json suite.csv
    syntagm convert blimp.jsonl pairs.tsv
    syntagm convert "pairs.csv?good=right&bad=wrong" pairs.jsonl --as blimp

The format follows from the ending of OUT (.json SyntaxGym, .jsonl BLiMP, .tsv pairs, .csv SyntaxGym or pairs, whichever
can hold the suite), or is said with --as. SyntaxGym numbers regions and predictions: a template, which names them, is written
so by `syntagm make`, with the names as labels. What is written is read again and compared: if anything would be lost, it is
listed and nothing is written, unless --lossy is given.
"""

import argparse
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from syntagm.errors import InputError, UsageError

if TYPE_CHECKING:
    from syntagm.suite import Suite

FORMATS = {".json": ("syntaxgym",), ".jsonl": ("blimp",), ".tsv": ("pairs",), ".csv": ("syntaxgym_csv", "pairs")}


def arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument("source", metavar="IN", help="a file that some format can read, or a bundled suite")
    parser.add_argument("target", metavar="OUT", type=Path, help="the file to write")
    parser.add_argument(
        "--as", dest="format", metavar="FORMAT", help="the format to write, if the ending does not say it"
    )
    parser.add_argument("--allow-pickle", action="store_true", help="read a suite that is a pickle, without running it")
    parser.add_argument("--force", action="store_true", help="replace OUT if it exists")
    parser.add_argument("--lossy", action="store_true", help="write even if something is lost")


def run(args: argparse.Namespace) -> int:
    """Read IN, write OUT whole or not at all."""
    from syntagm.materials.reading import expand, read

    target: Path = args.target
    if target.exists() and not args.force:
        raise UsageError(str(target), "this file exists", "a new name", "Add --force to replace it.")
    if not target.parent.is_dir():
        raise UsageError(str(target), "no such folder", "a folder that exists", f"Create {target.parent} first.")
    files = expand([args.source], allow_pickle=args.allow_pickle)
    if len(files) != 1:
        raise UsageError(args.source, f"{len(files)} files", "one", "Convert each by itself.")
    suites = read(files[0])
    try:
        losses = _convert(suites, target, _formats(target, args.format), args.lossy)
    except OSError as error:
        raise UsageError(str(target), f"can't be written: {error.strerror}", "a place to write") from None
    for loss in losses:
        print(f"lost: {loss}")
    items = sum(len(suite.items) for suite in suites)
    print(
        f"{target}: {len(suites):,} suite{'s' if len(suites) != 1 else ''}, {items:,} item{'s' if items != 1 else ''}"
    )
    return 0


def _formats(target: Path, name: str | None) -> Sequence[str]:
    """The formats to try, in order."""
    from syntagm import registry

    writable = [name for name in registry.names("formats") if hasattr(registry.find("formats", name), "write")]
    if name is not None:
        if name not in writable:
            raise UsageError("--as", repr(name), "one of " + ", ".join(writable))
        return (name,)
    if target.suffix not in FORMATS:
        cure = f"Say --as with one of {', '.join(writable)}."
        raise UsageError(str(target), f"the ending {target.suffix!r}", "one of " + ", ".join(FORMATS), cure)
    return FORMATS[target.suffix]


def _convert(suites: "list[Suite]", target: Path, formats: Sequence[str], lossy: bool) -> list[str]:
    """Write with the first format that can hold the suites, in a folder of its own beside the target; what is lost."""
    with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as place:
        written = Path(place) / target.name
        name = _write(suites, written, formats)
        losses = _losses(suites, written, name)
        if losses and not lossy:
            raise InputError(
                str(target), f"{name} can't hold everything", "a format that can",
                "Nothing was written. Add --lossy to lose this:\n  " + "\n  ".join(losses),
            )  # fmt: skip
        with written.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(written, target)
    return losses


def _write(suites: "list[Suite]", written: Path, formats: Sequence[str]) -> str:
    from syntagm import registry

    refusals: list[tuple[str, InputError]] = []
    for name in formats:
        try:
            registry.find("formats", name).write(suites, written)
        except InputError as error:
            refusals.append((name, error))
        else:
            return name
    name, first = refusals[0]
    also = "".join(f"\n  Nor can {other}: {reason}" for other, reason in refusals[1:])
    raise InputError(f"{name} can't hold it: {first.place}", first.found, first.expected, first.cure + also)


def _losses(suites: "list[Suite]", written: Path, name: str) -> list[str]:
    """What differs when the file is read again; tags that only serve the exact round trip of the old format do not count."""
    from syntagm import registry

    again = list(registry.find("formats", name).read(written))
    if len(again) != len(suites):
        return [f"{len(suites)} suites become {len(again)}"]
    losses: dict[str, None] = {}
    for old, new in zip(suites, again, strict=True):
        for what in _differences(old, new):
            losses[what if len(suites) == 1 else f"suite {old.name}: {what}"] = None
    return list(losses)


def _differences(old: "Suite", new: "Suite") -> list[str]:
    found = [] if old.name == new.name else [f"the name {old.name!r} becomes {new.name!r}"]
    if old.predictions != new.predictions:
        missing = [prediction.name for prediction in old.predictions if prediction not in new.predictions]
        found.append("predictions " + ", ".join(missing))
    if old.aggregate != new.aggregate:
        found.append(f"the metric {old.aggregate} becomes {new.aggregate}")
    if [item.id for item in old.items] != [item.id for item in new.items]:
        return [*found, "the ids or the order of items"]
    for one, other in zip(old.items, new.items, strict=True):
        if list(one.sentences.items()) != list(other.sentences.items()):
            texts = [[sentence.text for sentence in item.sentences.values()] for item in (one, other)]
            found.append("sentences" if texts[0] != texts[1] else "the conditions, or regions and their names")
        before, after = {**old.tags, **one.tags}, {**new.tags, **other.tags}
        found += [
            f"tag {key}" for key, value in before.items() if not key.startswith("json:") and after.get(key) != value
        ]
    return list(dict.fromkeys(found))
