"""What the commands read: small texts and lists of our own, the samples of the tests, and slices of published data."""

import json
import random
import shutil
from pathlib import Path

SAMPLES = Path(__file__).parent.parent / "data"
# Items, or lines, of a published file that are recorded; files that are whole suites at once are taken in steps.
_ITEMS, _LINES = 4, 16
_NOUNS = ("farmer", "sailor", "dog", "painting", "letter", "window")
_VERBS = ("sees", "likes", "moves", "knows")
_WORDS = """lemma,form:singular,form:plural,band
be,is,are,1
have,has,have,1
see,sees,see,2
like,likes,like,2
know,knows,know,3
bark,barks,bark,3
"""
_PAIRS = """good\tbad\tprefix\tcritical_good\tcritical_bad\tlinguistics_term\tfield\tlemma
The dogs bark here.\tThe dogs barks here.\tThe dogs\tbark\tbarks\tagreement\tmorphology\tbark
The dog barks here.\tThe dog bark here.\tThe dog\tbarks\tbark\tagreement\tmorphology\tbark
The cats see it.\tThe cats sees it.\tThe cats\tsee\tsees\tagreement\tmorphology\tsee
The cat sees it.\tThe cat see it.\tThe cat\tsees\tsee\tagreement\tmorphology\tsee
The old farmers know it.\tThe old farmers knows it.\tThe old farmers\tknow\tknows\tagreement\tmorphology\tknow
"""


def prepare(work: Path, shared: Path | None) -> None:
    """Lay out in `work` what the commands name.

    Arguments:
        shared: the folder of published data; its slices are left out where there is none.
    """
    texts = work / "texts"
    texts.mkdir(parents=True)
    for seed, (name, number) in enumerate({"train": 400, "valid": 40, "test": 40, "cloze": 60}.items()):
        (texts / f"{name}.txt").write_text(_sentences(seed, number))
    (texts / "words.csv").write_text(_WORDS)
    (texts / "pairs.tsv").write_text(_PAIRS)
    shutil.copytree(SAMPLES, work / "samples")
    if shared:
        (work / "shared").symlink_to(shared.resolve())
        _slices(shared / "data", work / "shared_slices")


def _sentences(seed: int, number: int) -> str:
    draw = random.Random(seed).choice
    lines = (f"The {draw(_NOUNS)} that {draw(_VERBS)} the {draw(_NOUNS)} {draw(_VERBS)} it." for _ in range(number))
    return "".join(f"{line}\n" for line in lines)


def _slices(data: Path, place: Path) -> None:
    for path in sorted((data / "syntaxgym").glob("*.json")):
        suite = json.loads(path.read_text())
        suite["items"] = suite["items"][:_ITEMS]
        _write(place / "syntaxgym" / path.name, json.dumps(suite, ensure_ascii=False))
    listed = [*data.glob("blimp/*.jsonl"), *data.glob("refining_tse/*.jsonl"), *data.glob("minimal_pairs/*/*.*")]
    for path in listed:
        if path.stem != "models_summary":
            with path.open(newline="") as file:
                head = "".join(line for line, _ in zip(file, range(_LINES), strict=False))
            _write(place / path.relative_to(data), head)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, newline="")
