"""Write the numbers of a run as CSV, or in the files of lm-evaluation-harness; or n-grams as an ARPA file.

tokens   a row a token: model,suite,item,condition,index,start,token,bits,known
regions  a row a region: model,suite,item,condition,region,content,bits
results  a row an item and measure: model,suite,item,measure,value,margin
scores   a row a suite and prediction, a tag's value, and all suites: with interval and chance
lm-eval  results JSON, and beside it samples_TASK_*.jsonl; suites of minimal pairs only
arpa     the model in a folder that `syntagm train ngram` made, for KenLM, SRILM and others; FILE.gz is gzipped

CSV is UTF-8 with a header; bits, values and margins have all their digits; `nan` is undefined. `-o -` writes CSV to the
standard output. A file that stands there is replaced only if it is of the same kind, an ARPA file never; --force replaces any.
Exit code 1: something of the run is not in the files, and is named.
"""

import argparse
import sys
from pathlib import Path

from syntagm.cli import _files
from syntagm.errors import UsageError

KINDS = ("tokens", "regions", "results", "scores", "lm-eval", "arpa")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("folder", metavar="DIR", help="a run directory; of arpa, a model folder")
    parser.add_argument("--as", dest="kind", required=True, choices=KINDS, help="what to write")
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="where to; - is the standard output")
    _files.add_force(parser)


def run(options: argparse.Namespace) -> int:
    """Do it; the exit code."""
    if options.kind == "arpa":
        return _arpa(options)
    from syntagm.runs.store import open_run

    opened = open_run(options.folder)
    missing = [] if opened.done else [f"run {opened.folder} is not finished: only its finished shards are exported"]
    if options.kind == "lm-eval":
        from syntagm.export import lm_eval

        if options.output == "-":
            raise UsageError("-o", "the standard output", "a file: lm-eval has one more file a task")
        _files.spare(Path(options.output), ['"model_source": "syntagm"'], options.force)
        missing += lm_eval.write(opened, Path(options.output))
    else:
        from syntagm.export import tables

        if options.output == "-":
            for line in tables.lines(opened, options.kind):
                sys.stdout.buffer.write(line.encode())
        else:
            _files.spare_csv(Path(options.output), tables.COLUMNS[options.kind], options.force)
            tables.write(opened, options.kind, Path(options.output))
    for sentence in missing:
        print(f"syntagm: {sentence}", file=sys.stderr)
    return 1 if missing else 0


def _arpa(options: argparse.Namespace) -> int:
    from syntagm.models.ngram import arpa as _arpa
    from syntagm.models.ngram import folder

    if options.output == "-":
        raise UsageError("-o", "the standard output", "a file: an ARPA file is written whole or not at all")
    path = Path(options.output)
    if path.exists() and not options.force:
        raise UsageError(str(path), "a file stands there", "a free name", _files.CURE)
    ngrams, vocabulary, tokens, _ = folder.read(Path(options.folder))
    _arpa.write(ngrams, path)
    # The format has no place for how texts are divided and what unknown words are taken for.
    unknown = "single" if vocabulary.classes == "none" else "berkeley"
    print(f"the same model: ngram:{path}?tokens={tokens}&unknown={unknown}")
    return 0
