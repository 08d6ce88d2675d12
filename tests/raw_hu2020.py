"""Raw data in the form of Hu et al. 2020, made up, small: four suites and a few models."""

import random
from collections.abc import Sequence
from pathlib import Path

SUITES = {"mvrr": 4, "mvrr_mod": 4, "number_src": 3, "nn-nv-rpl": 1}
INSTANCES = {
    "vanilla": [("bllip-xs", "0111"), ("bllip-xs", "0120"), ("bllip-lg", "0111")],
    "rnng": [("bllip-xs", "7"), ("bllip-lg", "7"), ("bllip-lg", "8")],
    "gpt-2": [("bllip-xs-gptbpe", "158"), ("bllip-lg-gptbpe", "159"), ("bllip-lg", "160")],
    "ngram": [("bllip-xs", "0"), ("bllip-xs", "1"), ("bllip-xs", "2")],
    "ngram-no-rand": [("bllip-xs", "0")],
    "grnn": [("", "0")],
}


def lines(name: str, corpus: str, seed: str) -> list[str]:
    """The answers of one model."""
    draw = random.Random(f"{name} {corpus} {seed}").random
    answers = [(suite, item) for suite, count in SUITES.items() for item in range(count)]
    return [f"{name}_{corpus}_{seed},{suite},{item},{draw() < 0.6}" for suite, item in answers]


def write(folder: Path, models: tuple[str, ...] = tuple(INSTANCES), perplexity: bool = True) -> Path:
    """A folder like `data/raw`."""
    (folder / "sg_results").mkdir(parents=True)
    told = ["model,corpus,seed,pid,test_loss,test_ppl"]
    for name in models:
        rows = [row for corpus, seed in INSTANCES[name] for row in lines(name, corpus, seed)]
        text = "\n".join(["model,suite,item,correct", *rows]) + "\n"
        (folder / "sg_results" / f"syntaxgym_results_{name}.csv").write_text(text)
        known = [(corpus, seed) for corpus, seed in INSTANCES[name] if corpus and (name != "ngram" or seed == "0")]
        told += [f"{name},{corpus},{seed},,,{50 + 7 * at}.5" for at, (corpus, seed) in enumerate(known)]
    if perplexity:
        (folder / "perplexity.csv").write_text("\n".join(told) + "\n")
    return folder


def write_rows(folder: Path, rows: Sequence[tuple[str, str, int, str, int, bool]]) -> Path:
    """A folder like `data/raw`: model, corpus, seed, suite, item, correct. Perplexities are made up for trained models."""
    (folder / "sg_results").mkdir(parents=True)
    lines = [f"{name}_{corpus}_{seed},{suite},{item},{right}" for name, corpus, seed, suite, item, right in rows]
    text = "\n".join(["model,suite,item,correct", *lines]) + "\n"
    (folder / "sg_results" / "results.csv").write_text(text)
    models = dict.fromkeys((name, corpus, seed) for name, corpus, seed, *_ in rows if corpus)
    known = [
        f"{name},{corpus},{seed},,,{50 + 100 * random.Random(f'{name} {corpus} {seed}').random():.2f}"
        for name, corpus, seed in models
    ]
    if known:
        (folder / "perplexity.csv").write_text("\n".join(["model,corpus,seed,pid,test_loss,test_ppl", *known]) + "\n")
    return folder
