"""What the commands read: small texts and lists of our own, the samples of the tests, and slices of published data."""

import json
import math
import random
import shutil
from collections.abc import Callable
from pathlib import Path

SAMPLES = Path(__file__).parent.parent / "data"
# Items, or lines, of a published file that are recorded; files that are whole suites at once are taken in steps.
_ITEMS, _LINES = 4, 16
_NOUNS = ("farmer", "sailor", "dog", "painting", "letter", "window")
_VERBS = ("sees", "likes", "moves", "knows")
# Words of texts that are read, by how often they are: a reader needs the longer for a word, and the next one, the rarer it is.
_FREQUENCIES = """the 6000, a 2500, every 400, farmer 30, sailor 12, dog 90, painting 40, letter 80, window 70, sees 33, likes 25,
moves 20, knows 66, old 200, friendly 18, extraordinary 9, here 500, now 800"""
_READ = {word: int(count) for word, count in map(str.split, _FREQUENCIES.split(","))}
_ADJECTIVES, _ENDS = ("", "old ", "friendly ", "extraordinary "), ("", " here", " now")
_PEOPLE, _STORIES, _SENTENCES = 8, ("en", "en", "de", "de"), 6
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
    texts(work / "texts")
    shutil.copytree(SAMPLES, work / "samples")
    if shared:
        (work / "shared").symlink_to(shared.resolve())
        _slices(shared / "data", work / "shared_slices")


def texts(folder: Path) -> None:
    """Write the texts and lists of our own, always the same, into a new folder."""
    folder.mkdir(parents=True)
    for seed, (name, number) in enumerate({"train": 400, "valid": 40, "test": 40, "cloze": 60}.items()):
        (folder / f"{name}.txt").write_text(_sentences(seed, number))
    (folder / "words.csv").write_text(_WORDS)
    (folder / "pairs.tsv").write_text(_PAIRS)
    stories = [_story(seed) for seed in range(len(_STORIES))]
    (folder / "stories.txt").write_text("".join(f"{' '.join(story)}\n" for story in stories))
    (folder / "times.csv").write_text(_times(stories))
    (folder / "times_in_s.csv").write_text(_times(stories, 1000))
    (folder / "people.csv").write_text(_people())
    (folder / "frequencies.csv").write_text("word,frequency\n" + "".join(f"{one},{n}\n" for one, n in _READ.items()))


def _sentences(seed: int, number: int) -> str:
    draw = random.Random(seed).choice
    lines = (f"The {draw(_NOUNS)} that {draw(_VERBS)} the {draw(_NOUNS)} {draw(_VERBS)} it." for _ in range(number))
    return "".join(f"{line}\n" for line in lines)


def _story(seed: int) -> list[str]:
    """Sentences whose words differ in length and in how often they are."""
    draw = random.Random(seed).choice
    first: Callable[[], str] = lambda: draw(("The", "A", "Every"))  # noqa: E731
    noun: Callable[[], str] = lambda: f"{draw(_ADJECTIVES)}{draw(_NOUNS)}"  # noqa: E731
    return [f"{first()} {noun()} {draw(_VERBS)} the {noun()}{draw(_ENDS)}." for _ in range(_SENTENCES)]


def _times(stories: list[list[str]], unit: int = 1) -> str:
    """Times of people who read stories in two languages (as the column says), word by word, in so many ms."""
    draw = random.Random(11)
    lines = ["participant,language,story,sentence,position,word,RT"]
    for person in range(_PEOPLE):
        pace = 240 + draw.uniform(-40, 40)
        for number, (language, story) in enumerate(zip(_STORIES, stories, strict=True)):
            words = [(at, word) for at, sentence in enumerate(story) for word in sentence.split()]
            before = 0.0
            for place, (at, word) in enumerate(words, 1):
                rare = 13 - math.log2(_READ[word.lower().strip(".")])
                time = pace + 6 * rare + 3 * before + 4 * len(word) - 0.3 * place + draw.expovariate(1 / 50)
                lines.append(f"p{person},{language},s{number},s{number}.{at},{place},{word},{time / unit:.3f}")
                before = rare
    return "".join(f"{line}\n" for line in lines)


def _people() -> str:
    """Times of people for regions of `number_prep`: those of a mismatch are longer."""
    draw = random.Random(12)
    lines = ["participant,suite,item,condition,region,time"]
    for person in range(_PEOPLE):
        for item in range(1, 29):
            for condition, more in (("match_sing", 0), ("mismatch_sing", 60)):
                for region, words in (("matrix_v", 1), ("continuation", 4)):
                    time = words * (300 + draw.expovariate(1 / 50)) + more
                    lines.append(f"p{person},number_prep,{item},{condition},{region},{time:.1f}")
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
