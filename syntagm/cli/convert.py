"""Convert a suite to another format.

    syntagm convert suite.json suite.csv
    syntagm convert blimp.jsonl pairs.tsv
    syntagm convert "pairs.csv?good=right&bad=wrong" pairs.jsonl --as blimp

The format follows from the ending of OUT (.json SyntaxGym; .jsonl BLiMP; .tsv pairs; .csv
SyntaxGym or pairs, whichever can hold the suite), or is given with --as. SyntaxGym numbers
regions and predictions; to convert a template, which names them, use `syntagm make`, which
keeps the names as labels. The file is read again and compared with the suite: if anything
would be lost, the losses are listed and nothing is written, unless --lossy is given.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from syntagm.errors import InputError, UsageError

if TYPE_CHECKING:
    from syntagm.suite import Suite


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to the parser."""
    parser.add_argument("source", metavar="IN", help="a suite: a file in any format, or a bundled suite")
    parser.add_argument("target", metavar="OUT", type=Path, help="the file to write")
    parser.add_argument("--as", dest="format", metavar="FORMAT", help="the format of OUT, if its ending does not tell")
    parser.add_argument("--allow-pickle", action="store_true", help="read a pickled suite, without running code in it")
    parser.add_argument("--force", action="store_true", help="replace OUT if it exists")
    parser.add_argument("--lossy", action="store_true", help="write OUT even if something is lost")


def run(args: argparse.Namespace) -> int:
    """Read IN, and write OUT completely or not at all."""
    from syntagm.materials.finding import expand
    from syntagm.materials.reading import read

    target: Path = args.target
    if target.exists() and not args.force:
        raise UsageError(str(target), "this file exists", "a new name", "Add --force to replace it.")
    if not target.parent.is_dir():
        raise UsageError(str(target), "no such folder", "a folder that exists", f"Create {target.parent} first.")
    files = expand([args.source], allow_pickle=args.allow_pickle)
    if len(files) != 1:
        raise UsageError(args.source, f"{len(files)} files", "one file", "Convert each by itself.")
    suites = read(files[0])
    losses = _convert(suites, target, _formats(target, args.format), args.lossy)
    for loss in losses:
        print(f"lost: {loss}")
    items = sum(len(suite.items) for suite in suites)
    print(
        f"{target}: {len(suites):,} suite{'s' if len(suites) != 1 else ''}, {items:,} item{'s' if items != 1 else ''}"
    )
    return 0


def _formats(target: Path, name: str | None) -> Sequence[str]:
    """Return the names of the formats to try, in order."""
    from syntagm.materials.writing import of_ending, writable

    known = writable()
    if name is not None:
        if name not in known:
            raise UsageError("--as", repr(name), "one of " + ", ".join(known))
        return (name,)
    if formats := of_ending(target.suffix):
        return formats
    endings = sorted({ending for of_format in known.values() for ending in of_format})
    cure = f"Add --as with one of {', '.join(known)}."
    raise UsageError(str(target), f"the ending {target.suffix!r}", "one of " + ", ".join(endings), cure)


def _convert(suites: "list[Suite]", target: Path, formats: Sequence[str], lossy: bool) -> list[str]:
    """Write the suites in the first format that can hold them, and return what is lost.

    The file is read again and compared before it is put in place.
    """
    from syntagm.io import atomic
    from syntagm.materials.writing import write

    with atomic.replacing(target) as written:
        name = write(suites, written, formats)
        losses = _losses(suites, written, name)
        if losses and not lossy:
            raise InputError(
                str(target), f"{name} can't hold everything", "a format that can",
                "Nothing was written. Add --lossy to lose this:\n  " + "\n  ".join(losses),
            )  # fmt: skip
    return losses


def _losses(suites: "list[Suite]", written: Path, name: str) -> list[str]:
    """Return what differs when the file is read again.

    Tags that only serve the exact round trip of the old format don't count.
    """
    from syntagm import registry

    again = list(registry.find("formats", name).read(written))
    if len(again) != len(suites):
        return [f"{len(suites)} suites become {len(again)}"]
    losses: dict[str, None] = {}
    for old, new in zip(suites, again, strict=True):
        for difference in _differences(old, new):
            losses[difference if len(suites) == 1 else f"suite {old.name}: {difference}"] = None
    return list(losses)


def _differences(old: "Suite", new: "Suite") -> list[str]:
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
