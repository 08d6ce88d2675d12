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

    syntagm convert pairs.tsv tasks --as lm-eval-task
    cd tasks && lm_eval --model hf --model_args pretrained=gpt2 --include_path . --tasks syntagm_pairs

writes a task of lm-evaluation-harness for each suite, as YAML and JSON lines, into the folder OUT.
IN may then be several suites, such as warstadt2020; nothing but tags of suites is lost.

    syntagm convert pairs.tsv asked --as in-template
    syntagm convert pairs.tsv asked --as yes-no

writes suites that ask about the sentences of pairs in words, for large language models: each
sentence after a template that announces an acceptable one, or the odds of "Yes" against "No"
after a question. A file NAME_in_template.json or NAME_yes_no.json for each suite, into the folder OUT.
"""

import argparse
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from syntagm.cli import _files
from syntagm.core import InputError, RunError, UsageError, atomic, counted, regular

if TYPE_CHECKING:
    from syntagm.suites import Suite


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="IN", help="a suite: a file in any format, or a bundled suite")
    parser.add_argument(
        "output",
        metavar="OUT",
        type=_files.file,
        help="the file to write; with --as lm-eval-task, in-template or yes-no, the folder",
    )
    parser.add_argument(
        "--as", dest="format", metavar="FORMAT", help="the format of OUT, if its extension does not determine it"
    )
    parser.add_argument(
        "--allow-pickle", action="store_true", help="read a pickled suite without running any code in it"
    )
    parser.add_argument("--force", action="store_true", help="replace OUT if its content is different")
    parser.add_argument("--lossy", action="store_true", help="write OUT even if something is lost")


def run(args: argparse.Namespace) -> int:
    from syntagm.suites import asked, convert, expand, formats_for, lm_eval_task, read_suite_file

    target: Path = args.output
    if args.format == lm_eval_task.NAME:
        return _write_into_folder(args, "task", lambda suites: lm_eval_task.files(suites, target.resolve().name))
    if args.format in asked.WAYS:
        return _write_into_folder(args, "suite", lambda suites: _files_of(suites, args.format))
    files = expand([args.source])
    if len(files) != 1:
        raise UsageError(args.source, f"{len(files)} files", "one file", "Convert each file separately.")
    suites = read_suite_file(files[0], args.allow_pickle)
    with atomic.replacing(target) as written:
        losses = convert(
            suites, written, formats_for(target, args.format or "", (lm_eval_task.NAME, *asked.WAYS)), args.lossy
        )
        _files.spare_other(target, written, args.force)
    for loss in losses:
        print(f"lost: {loss}")
    items = sum(len(suite.items) for suite in suites)
    print(f"{target}: {counted(len(suites), 'suite')}, {counted(items, 'item')}")
    return 0


def _files_of(suites: "Sequence[Suite]", way: str) -> dict[str, bytes]:
    from syntagm.suites import asked, syntaxgym

    contents: dict[str, bytes] = {}
    for suite in suites:
        made = asked.asked(suite, way)
        name = re.sub(r"[^\w.-]+", "_", made.name) + ".json"
        if name in contents:
            raise InputError(f"suite {suite.name}", f"the file name {name} of another suite", "distinct names")
        contents[name] = syntaxgym.text_of(made).encode()
    return contents


def _write_into_folder(
    args: argparse.Namespace, noun: str, files: "Callable[[Sequence[Suite]], dict[str, bytes]]"
) -> int:
    """Write a file or several for each suite into a folder, all or none."""
    folder: Path = args.output
    if folder.exists() and not folder.is_dir():
        raise RunError(str(folder), "not a folder", "a folder", "Choose another folder.")
    suites = _files.read_suites([args.source], args.allow_pickle)
    contents = {folder / name: content for name, content in files(suites).items()}
    for path, content in contents.items():
        same = path.is_file() and path.stat().st_size == len(content) and regular.content(path, len(content)) == content
        if path.exists() and not same and not args.force:
            raise RunError(str(path), "a file with another content", "a new file", _files.CURE)
    with atomic.used_folder(folder):
        atomic.write_all(contents)
    items = sum(len(suite.items) for suite in suites)
    print(f"{folder}: {counted(len(suites), noun)}, {counted(items, 'item')}")
    return 0
