"""Every command line that writes, small, with the files that it needs."""

import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from . import jrnn, torch_files, transformer_xl
from .disk import Disk

NOUNS = ("farmer", "sailor", "dog", "letter", "window")
VERBS = ("sees", "likes", "moves")
TEXT = "".join(f"The {a} that {v} the {b} {w} it.\n" for a in NOUNS for b in NOUNS for v in VERBS for w in VERBS)
TEXTS = ("--corpus", "in/train.txt", "--valid", "in/valid.txt")
TINY = ("--layers=1", "--epochs=2", "--batch=20")
TINY_TRANSFORMER = (*TINY, "--width=8", "--heads=2", "--window=16", "--warmup=2")
# A parser that hangs all words of a sentence on one node.
_PARSER = "import sys\nfor line in sys.stdin: print('(S', *(f'(W {word})' for word in line.split()), end=')\\n')"

# Lines that make the inputs of others.
PREPARATION: Mapping[str, tuple[str, ...]] = {
    "make": ("make", "marvin2018/simple_agrmt", "hu2020/number_src", "-n", "4", "-o", "in/suites"),
    "run": ("run", "toy", "--suite", "in/suites", "-o", "in/run", "--no-report"),
    "other": ("run", "random", "--suite", "in/suites", "-o", "in/other", "--no-report"),
    "pairs": ("run", "toy", "--suite", "in/pairs.tsv", "-o", "in/pairs", "--no-report"),
    "ngram": ("train", "ngram", "--corpus", "in/train.txt", "--order=2", "--discount-fallback", "-o", "in/ngram"),
    "lstm": ("train", "lstm", *TEXTS, "--layers=1", "--epochs=1", "--hidden=8", "--embedding=8", "-o", "in/lstm"),
}
LINES: Mapping[str, tuple[str, ...]] = {
    "run": ("run", "toy", "--suite", "in/suites", "-o", "out/run"),
    "run_cached": ("run", "in/lstm", "--suite", "in/suites", "-o", "out/run", "--no-report"),
    "fill": ("fill", "toy", "--suite", "in/pairs.tsv", "--words", "in/words.csv", "--top", "0.9",
             "--most-probable", "2", "-o", "out/fill"),
    "report": ("report", "in/run", "in/other", "-o", "out/report.html"),
    "report_figures": ("report", "in/run", "-o", "out/report.html", "--figures", "out/figures", "--format", "svg,vl.json"),
    "report_pages": ("report", "in/run", "in/other", "-o", "out/pages/"),
    "figure": ("figure", "scores", "in/run", "-o", "out/figures/scores", "--format", "svg,vl.json,pdf,png"),
    "table": ("table", "scores", "in/run", "-o", "out/tables/scores"),
    "compare": ("compare", "in/run", "in/other", "-o", "out/pairs.csv"),
    "power": ("power", "in/run", "in/other", "suites=4", "items=8", "difference=0.2", "-o", "out/plans/power"),
    "cite": ("cite", "in/run", "-o", "out/paper/cited"),
    "describe": ("describe", "in/suites", "-o", "out/suites.md"),
    "make": ("make", "marvin2018/simple_agrmt", "marvin2018/vp_coord", "hu2020/number_src", "-n", "3", "-o", "out/suites"),
    "people": ("experiment", "make", "in/pairs.tsv", "--design", "forced-choice", "--participants", "4", "-o", "out/people"),
    "make_pairs": ("make", "warstadt2020/causative", "-n", "3", "-o", "out/suites", "--as", "tsv"),
    "make_blimp": ("make", "warstadt2020/causative", "-n", "3", "-o", "out/blimp", "--as", "blimp"),
    "convert": ("convert", "in/suites/number_src.json", "out/number_src.csv", "--lossy"),
    "export_results": ("export", "in/run", "--as", "results", "-o", "out/results.csv"),
    "export_lm_eval": ("export", "in/pairs", "--as", "lm-eval", "-o", "out/results.json"),
    "export_every_eval_ever": ("export", "in/pairs", "--as", "every-eval-ever", "-o", "out/record.json"),
    "export_arpa": ("export", "in/ngram", "--as", "arpa", "-o", "out/model.arpa"),
    "score": ("score", "in/ngram", "--file", "in/valid.txt", "--by", "word", "-o", "out/words.jsonl"),
    "score_parquet": ("score", "toy", "--file", "in/valid.txt", "-o", "out/tokens.parquet"),
    "train_ngram": ("train", "ngram", *TEXTS, "--order=3", "--discount-fallback", "-o", "out/ngram"),
    "train_lstm": ("train", "lstm", *TEXTS, *TINY, "--hidden=8", "--embedding=8", "-o", "out/lstm"),
    "train_onlstm": (
        "train", "onlstm", *TEXTS, *TINY, "--hidden=8", "--embedding=8", "--chunk=2", "--every=2", "-o", "out/onlstm"
    ),
    "train_gpt2": ("train", "gpt2", *TEXTS, *TINY_TRANSFORMER, "--vocabulary=300", "-o", "out/gpt2"),
    "train_masked": ("train", "masked", *TEXTS, *TINY_TRANSFORMER, "--vocabulary=200", "-o", "out/masked"),
    "train_multitask": (
        "train", "multitask", "--corpus", "in/train.trees", "--valid", "in/valid.trees", *TINY, "--hidden=8",
        "--embedding=8", "-o", "out/multitask",
    ),
    "train_rnng": (
        "train", "rnng", "--corpus", "in/train.trees", "--valid", "in/valid.trees", *TINY, "--hidden=8", "--embedding=8",
        "-o", "out/rnng",
    ),
    "train_parsed": (
        "train", "rnng", *TEXTS, "--parser", "exec:in/parser.toml", "--allow-exec", *TINY, "--hidden=8", "--embedding=8",
        "-o", "out/parsed",
    ),
    "import": ("import", "grnn", "in/model.pt", "--vocabulary", "in/words.txt", "--allow-pickle", "-o", "out/imported"),
    "import_jrnn": ("import", "jrnn", "in/jrnn.npz", "--vocabulary", "in/vocab.txt", "-o", "out/imported"),
    "import_transformer_xl": (
        "import", "transformer_xl", "in/pytorch_model.bin", "--vocabulary", "in/vocab.bin", "--allow-pickle", "-o",
        "out/imported",
    ),
    "reading_table": ("reading", "table", "in/times.csv", "--model", "toy", "-o", "out/predictors.csv"),
    "reading_fit": ("reading", "fit", "in/times.csv", "--response", "time", "--baseline", "length", "--add", "bits", "--folds",
                    "contiguous:2", "-o", "out/gains.parquet"),
    "exposure": ("exposure", "in/pairs.tsv", "--corpus", "in/train.txt", "-o", "out/exposure.csv"),
    "import_results": ("import-results", "minicons", "in/scores.csv", "-o", "out/imported"),
    "seal": ("seal", "in/edited_ngram"),
    "seal_run": ("seal", "in/edited_run"),
    "reproduce": ("reproduce", "marvin2018", "--model", "toy", "--suite", "in/suites/simple_agrmt.json", "-o", "out/paper"),
    "experiment": (
        "reproduce", "hu2020", *TEXTS, "--test", "in/valid.txt", "-o", "out/paper", "--suite", "hu2020/number_src",
        "hu2020/subordination", "--sizes", "xs=480,sm=900", "--seeds", "1", "--families", "ngram", "--set",
        "ngram.order=2", "ngram.discount_fallback=yes",
    ),
}  # fmt: skip


# Their bytes depend on which answers an interrupted run had put into the cache: they count them.
LOOSE = {"out/run/ledger.jsonl", "out/run/run.json"}
# Commands that write nothing.
READERS = {"check", "conform", "integrity", "models", "parse", "perplexity", "selftest", "serve"}


def prepare(disk: Disk, start: Path, lines: Sequence[str] = tuple(PREPARATION)) -> None:
    """Write the inputs of all lines to the folder `start`; without `lines`, only those that need no command."""
    write_inputs(disk.root)
    for name in lines:
        outcome = disk.run(PREPARATION[name])
        assert outcome.code == 0, f"{name}: {outcome.printed}"
    if lines:
        _edited(disk)
    shutil.rmtree(disk.root / "cache", ignore_errors=True)
    disk.save(start)


def write_inputs(root: Path) -> None:
    """Empty a folder, and write the texts, pairs and words that all lines use."""
    shutil.rmtree(root, ignore_errors=True)
    (root / "in").mkdir(parents=True)
    (root / "out").mkdir()
    (root / "in" / "train.txt").write_text(TEXT)
    (root / "in" / "valid.txt").write_text("".join(TEXT.splitlines(keepends=True)[::9]))
    for name in ("train", "valid"):
        lines = (root / "in" / f"{name}.txt").read_text().splitlines()
        trees = "".join(f"(S {' '.join(f'(W {word})' for word in line.split())})\n" for line in lines)
        (root / "in" / f"{name}.trees").write_text(trees)
    (root / "in" / "parser.toml").write_text(f"command = [{sys.executable!r}, '-c', {_PARSER!r}]\n")
    (root / "in" / "pairs.tsv").write_text(
        "id\tgood\tbad\n1\tThe dog barks.\tThe dog bark.\n2\tThe dogs bark.\tThe dogs barks.\n"
    )
    scored = "good,bad,score_good,score_bad\nThe dog barks.,The dog bark.,-9.5,-11.25\nThe dogs bark.,The dogs barks.,-12,-10.5\n"
    (root / "in" / "scores.csv").write_text(scored)
    (root / "in" / "model.pt").write_bytes(torch_files.grnn(torch_files.weights()))
    (root / "in" / "words.txt").write_text("\n".join(torch_files.WORDS))
    jrnn.written(root / "in", jrnn.arrays())
    whole = transformer_xl.published(), transformer_xl.CONFIG, transformer_xl.vocabulary(transformer_xl.WORDS)
    transformer_xl.written(root / "in", *whole)
    rows = "".join(f"{verb},{verb}s,{verb}\n" for verb in ("bark", "sleep"))
    times = [
        f"{text},{place},{word},{300 + 17 * place % 50 + len(word)},{len(word)},{place % 5 + 1}\n"
        for text, line in enumerate(TEXT.splitlines()[:20])
        for place, word in enumerate(line.split())
    ]
    (root / "in" / "times.csv").write_text("".join(["text,position,word,time,length,bits\n", *times]))
    (root / "in" / "words.csv").write_text(f"lemma,form:singular,form:plural\n{rows}")


def _edited(disk: Disk) -> None:
    """Make copies of a model and of a run that were edited since they were sealed."""
    for name in ("ngram", "run"):
        shutil.copytree(disk.root / "in" / name, disk.root / "in" / f"edited_{name}")
    (disk.root / "in" / "edited_ngram" / "note.txt").write_text("new")
    record = disk.root / "in" / "edited_run" / "run.json"
    record.write_text(record.read_text().replace("toy:12-sentences", "toy:renamed"))
