"""Convert a suite to another format.

    syntagm convert suite.json suite.csv
    syntagm convert blimp.jsonl pairs.tsv
    syntagm convert "pairs.csv?good=right&bad=wrong" pairs.jsonl --as blimp

The format follows from the ending of OUT (.json SyntaxGym; .jsonl BLiMP; .tsv pairs, or a
table of regions; .csv SyntaxGym, pairs, or a table of regions: the first that can hold the
suite), or is given with --as. SyntaxGym numbers regions and predictions; to convert a
template, which names them, use `syntagm make`, which keeps the names as labels. The file is
read again and compared with the suite: if anything would be lost, the losses are listed and
nothing is written, unless --lossy is given.
"""

import argparse
from pathlib import Path

from syntagm.cli import _files
from syntagm.errors import UsageError


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to the parser."""
    parser.add_argument("source", metavar="IN", help="a suite: a file in any format, or a bundled suite")
    parser.add_argument("output", metavar="OUT", type=_files.file, help="the file to write")
    parser.add_argument(
        "--as", dest="format", metavar="FORMAT", help="the format of OUT, if its extension does not determine it"
    )
    parser.add_argument(
        "--allow-pickle", action="store_true", help="read a pickled suite without running any code in it"
    )
    parser.add_argument("--force", action="store_true", help="replace OUT if its content is different")
    parser.add_argument("--lossy", action="store_true", help="write OUT even if something is lost")


def run(args: argparse.Namespace) -> int:
    """Read IN, and write OUT completely or not at all."""
    from syntagm.io import atomic
    from syntagm.materials.conversion import convert, formats_for
    from syntagm.materials.finding import expand
    from syntagm.materials.reading import read

    target: Path = args.output
    files = expand([args.source])
    if len(files) != 1:
        raise UsageError(args.source, f"{len(files)} files", "one file", "Convert each file separately.")
    suites = read(files[0], args.allow_pickle)
    with atomic.replacing(target) as written:
        losses = convert(suites, written, formats_for(target, args.format or ""), args.lossy)
        _files.spare_other(target, written, args.force)
    for loss in losses:
        print(f"lost: {loss}")
    items = sum(len(suite.items) for suite in suites)
    print(
        f"{target}: {len(suites):,} suite{'s' if len(suites) != 1 else ''}, {items:,} item{'s' if items != 1 else ''}"
    )
    return 0
