"""Write small runs, models, caches and suites of today's version, for later versions to open.

python -m tests.old_data OUT

Once for each released version, from the root of the repository, into a new folder `tests/data/old/VERSION`. What is there is
never written again. `tests/test_old_data.py` opens it.
"""

import os
import random
import shlex
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import torch
import transformers

import syntagm as sg
from syntagm.cli import main as syntagm

from .laboratory import jrnn, torch_files, transformer_xl

_README = """\
# Data of version {version}

Small runs, fills, a sweep, an interrupted run, a trajectory, a cache, a training study, a model of each family and suites
in each format, as Syntagm {version} wrote them (commit {commit}). Every later version opens them
and computes the same numbers: `tests/test_old_data.py`. Nothing here is ever edited or written again. All texts were written
for Syntagm. The models are tiny, and the imported ones random.

`python -m tests.old_data` wrote this folder with the lines below. It wrote these parts without a command: `texts`,
`models/letters.*`, the checkpoints that are imported (left out here), `runs/interrupted`, which was stopped in its second
suite, and `trajectory`. Locks are left out, and so are the tables and figures of the study, which are never read again.

{lines}
"""
_NOUNS, _VERBS = ("farmer", "sailor", "dog", "painting", "letter", "window"), ("sees", "likes", "moves", "knows")
# Words of the imported checkpoints.
_PAIRS = """id\tgood\tbad
verb\tthe dogs bark .\tthe dogs barks .
ever\tno dog ever barks .\tthe dog ever barks .
café\tthe café dogs bark .\tthe café dogs ever .
words\tw1 w2 w3 w10\tw1 w2 w3 w7
"""
_WORDS = "lemma,form:singular,form:plural,band\n" + "".join(
    f"{row}\n" for row in ("be,is,are,1", "sleep,sleeps,sleep,2", "wait,waits,wait,2", "bark,barks,bark,3")
)
_PROGRAM = '''"""Words cost four bits a letter: as a class for `python:`, as a program for `exec:`."""

import json
import re
import sys


class Letters:
    name, fingerprint, sees, exact, bos, eos = "letters", "four bits", "left", True, "the beginning", None

    def score(self, texts):
        return [self.answer(re.findall(r"\\s*\\S+", text)) for text in texts]

    def answer(self, tokens):
        starts = [sum(map(len, tokens[:index])) for index in range(len(tokens))]
        return {"starts": starts, "bits": [4.0 * len(token.strip()) for token in tokens]}


if __name__ == "__main__":
    model = Letters()
    hello = {key: getattr(model, key) for key in ("name", "fingerprint", "sees", "exact", "bos", "eos")}
    for line in sys.stdin:
        request = json.loads(line)
        answer = hello if request["do"] == "hello" else {"answers": model.score(request["texts"])}
        print(json.dumps({"id": request["id"], **answer}), flush=True)
'''

_TEXTS, _TREES = (
    "--corpus texts/train.txt --valid texts/valid.txt",
    "--corpus texts/train.trees --valid texts/valid.trees",
)
_TINY = "--layers 1 --epochs 4 --batch 8"
_RECURRENT, _TRANSFORMER = f"{_TINY} --embedding 8 --hidden 8", f"{_TINY} --width 8 --heads 2 --window 32 --warmup 2"
_SUITES = "--suite texts/pairs.tsv suites/syntaxgym/number_src.json --no-report"
_CACHED = f"{_SUITES} --cache cache/answers.sqlite"
_GAPS = "--suite suites/pairs/simple_agrmt.tsv --words texts/words.csv --no-report"
_STUDY = "suites/syntaxgym/number_src.json suites/syntaxgym/subordination.json suites/syntaxgym/nn-nv-rpl.json"
_MODELS = "ngram lstm onlstm multitask rnng gpt2 masked grnn jrnn transformer_xl"
_RUNS = "\n".join(f"run models/{name} {_CACHED} -o runs/{name}" for name in _MODELS.split())

SUITES = """\
make hu2020/number_src hu2020/subordination hu2020/nn-nv-rpl -n 2 -o suites/syntaxgym
make warstadt2020/causative -n 3 --as blimp -o suites/blimp
make marvin2018/simple_agrmt -n 4 --as tsv -o suites/pairs
convert suites/syntaxgym/subordination.json suites/spreadsheet/subordination.tsv --as spreadsheet
convert suites/syntaxgym/number_src.json suites/syntaxgym_csv/number_src.csv --as syntaxgym_csv --lossy"""
LINES = f"""\
train ngram {_TEXTS} --order 3 --discount-fallback -o models/ngram
train lstm {_TEXTS} {_RECURRENT} -o models/lstm
train onlstm {_TEXTS} {_RECURRENT} --chunk 2 -o models/onlstm
train multitask {_TREES} {_RECURRENT} -o models/multitask
train rnng {_TREES} {_RECURRENT} -o models/rnng
train gpt2 {_TEXTS} {_TRANSFORMER} --positions 64 --vocabulary 500 -o models/gpt2
train masked {_TEXTS} {_TRANSFORMER} --positions 64 --vocabulary 400 -o models/masked
import grnn checkpoints/model.pt --vocabulary checkpoints/words.txt --allow-pickle -o models/grnn
import jrnn checkpoints/jrnn.npz --vocabulary checkpoints/vocab.txt -o models/jrnn
import transformer_xl checkpoints/pytorch_model.bin --vocabulary checkpoints/vocab.bin --allow-pickle -o models/transformer_xl
export models/ngram --as arpa -o models/ngram.arpa
{_RUNS}
export runs/gpt2 --as tokens -o models/recorded.csv
run recorded:models/recorded.csv {_SUITES} -o runs/recorded
run ngram:models/ngram.arpa {_CACHED} -o runs/arpa
run python:models/letters.py --allow-exec {_CACHED} -o runs/python
run exec:models/letters.toml --allow-exec {_CACHED} -o runs/exec
run 'models/masked?regions=yes' {_CACHED} -o runs/regions
run 'models/gpt2?bos=no&boundary=word' --align start --limit 2 --seed 3 --name 'GPT-2, tiny' {_CACHED} -o runs/options
run models/lstm --measure 'surprisal(condition=match_sing, region=7)' --measure 'surprisal(condition=match_sing)' \
--suite suites/syntaxgym/number_src.json --no-report --no-cache -o runs/measures
run models/lstm models/ngram 'random?seed={{1..2}}' {_SUITES} --no-cache -o runs/sweep
run toy --suite suites/syntaxgym texts/pairs.tsv --no-report -o runs/syntaxgym
run toy --suite suites/blimp suites/pairs suites/spreadsheet --no-report -o runs/tables
run toy --suite suites/syntaxgym_csv --measure 'surprisal(condition=match_sing)' --no-report -o runs/syntaxgym_csv
fill models/gpt2 {_GAPS} --eligible single-token --top 0.5 0.9 --bottom 0.1 -o fills/gpt2
fill models/lstm {_GAPS} -o fills/lstm
fill models/masked {_GAPS} --top 0.9 -o fills/masked
reproduce hu2020 {_TEXTS} --test texts/valid.txt --suite {_STUDY} --sizes xs=480,sm=900 --seeds 1 --families ngram,lstm \
--set ngram.order=2 ngram.discount_fallback=yes lstm.layers=1 lstm.hidden=8 lstm.embedding=8 lstm.epochs=1 -o study"""


class _Stop(sg.Progress):
    """Stops a run in its second suite."""

    def __init__(self) -> None:
        self._suites: set[str] = set()

    def answered(self, suite: str, questions: int) -> None:
        self._suites.add(suite)
        if len(self._suites) > 1:
            raise sg.Interrupted("stopped")


def main(out: str) -> None:
    """Write the folder."""
    commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    Path(out).mkdir(parents=True)
    os.chdir(out)
    for lines in (SUITES, LINES):
        _write_texts()
        for line in lines.splitlines():
            print(line, flush=True)
            if (code := syntagm(shlex.split(line))) != 0:
                sys.exit(f"exit code {code}: {line}")
    _interrupted()
    _trajectory()
    shutil.rmtree("checkpoints")
    derived = [
        path for path in Path("study").iterdir() if path.is_file() and path.stem not in ("experiment", "results")
    ]
    for path in (*derived, *Path().rglob("lock")):
        path.unlink(missing_ok=True)
    shown = "\n".join(f"    syntagm {line}" for line in (*SUITES.splitlines(), *LINES.splitlines()))
    Path("README.md").write_text(
        _README.format(version=version("syntagm"), commit=commit, lines=shown), encoding="utf-8"
    )


def _write_texts() -> None:
    """Write texts, programs and checkpoints. The words of the suites, as far as they are made, are in the texts."""
    for folder in ("texts", "models", "checkpoints", "suites/spreadsheet", "suites/syntaxgym_csv"):
        Path(folder).mkdir(parents=True, exist_ok=True)
    draw = random.Random(1).choice
    lines = [f"The {draw(_NOUNS)} that {draw(_VERBS)} the {draw(_NOUNS)} {draw(_VERBS)} it." for _ in range(160)]
    if Path("suites/pairs").is_dir():
        suites = sg.read_suites("suites/syntaxgym", "suites/pairs", "suites/blimp")
        lines += 2 * [text.text for suite in suites for item in suite.items for text in item.sentences.values()]
        lines += 4 * [line.split("\t")[1] for line in _PAIRS.splitlines()[1:]]
    for name, part in (("train", lines), ("valid", lines[::7])):
        Path(f"texts/{name}.txt").write_text("".join(f"{line}\n" for line in part))
        trees = (" ".join(f"(W {word})" for word in line.split()) for line in part)
        Path(f"texts/{name}.trees").write_text("".join(f"(S {words})\n" for words in trees))
    Path("texts/pairs.tsv").write_text(_PAIRS, encoding="utf-8")
    Path("texts/words.csv").write_text(_WORDS)
    Path("models/letters.py").write_text(_PROGRAM)
    Path("models/letters.toml").write_text('command = ["python3", "letters.py"]\n')
    place = Path("checkpoints")
    (place / "model.pt").write_bytes(torch_files.grnn(torch_files.weights()))
    (place / "words.txt").write_text("\n".join(torch_files.WORDS))
    jrnn.written(place, jrnn.arrays())
    vocabulary = transformer_xl.vocabulary(transformer_xl.WORDS)
    transformer_xl.written(place, transformer_xl.published(), transformer_xl.CONFIG, vocabulary)


def _interrupted() -> None:
    """Stop a run that is otherwise that of `runs/lstm`."""
    line = f"run models/lstm {_CACHED} -o runs/interrupted"
    suites = sg.read_suites(*line.split("--suite ")[1].split(" --")[0].split())
    try:
        model = sg.load_model("models/lstm")
        sg.run_suites(model, suites, "runs/interrupted", progress=_Stop(), command=f"syntagm {line}")
    except sg.Interrupted:
        return
    sys.exit("the run was not interrupted")


def _trajectory() -> None:
    """Train GPT-2 for two more steps, and evaluate it after each."""
    model = transformers.AutoModelForCausalLM.from_pretrained("models/gpt2")
    tokenizer = transformers.AutoTokenizer.from_pretrained("models/gpt2")
    optimiser = torch.optim.SGD(model.parameters(), 0.1)
    ids = torch.tensor([tokenizer(Path("texts/valid.txt").read_text())["input_ids"][:64]])
    trajectory = sg.Trajectory("trajectory", sg.read_suites("suites/blimp"), tokenizer, name="tiny")
    for step in (1, 2):
        model(input_ids=ids, labels=ids).loss.backward()
        optimiser.step()
        trajectory.evaluate(model, step)


if __name__ == "__main__":
    main(*sys.argv[1:])
