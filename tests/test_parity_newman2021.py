"""The whole way from templates to estimates, against the released procedure of Newman et al. 2021 carried out plainly.

For GPT-2: the left side of the template as text, no start symbol, the logits at its last token, softmax over the vocabulary;
forms are the tokens that begin with a blank. In float64, with the vocabulary sorted for each cut-off.
"""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from fill_for_tests import oracle
from models_for_tests import byte_level, transformer

from syntagm.blanks.estimates import estimates
from syntagm.blanks.recording import fill
from syntagm.formats._read import read
from syntagm.measures._cut import PUBLISHED_BOTTOM, PUBLISHED_TOP
from syntagm.models.causal import wrap
from syntagm.word_list import read as read_words

SUBJECTS = ["the gardener", "the gardeners near the gate", "the boats", "No one", "the painter", "the gardener"]


def single_tokens() -> list[str]:
    """Words that are one token after a blank."""
    tokenizer = byte_level()
    tokens = (token for token in tokenizer.get_vocab() if token.startswith("Ġ"))
    return sorted(token[1:] for token in tokens if token[1:].isascii() and token[1:].isalpha() and token[1:].islower())


def distribution(model: object, left: str) -> dict[str, float]:
    """P(. | left) by token; a token that is a blank and a word goes by the word."""
    tokenizer = byte_level()
    with torch.no_grad():
        logits = model(torch.tensor([tokenizer(left).input_ids])).logits[0, -1].double()  # type: ignore[operator]
    p = torch.softmax(logits, 0).tolist()
    names = tokenizer.convert_ids_to_tokens(range(len(p)))
    return {
        name[1:] if name[0] == "Ġ" and name[1:].isalpha() else f"#{name}": x for name, x in zip(names, p, strict=True)
    }


@pytest.fixture
def materials(tmp_path: Path) -> tuple[Path, Path, list[tuple[str, str]]]:
    """Templates and a verb list in the published formats; any tokens do for verbs."""
    words = single_tokens()
    rows = list(zip(words[0::2], words[1::2], strict=False))
    listed = [("gardenereds", "gardenered"), *rows]
    (tmp_path / "verbs.csv").write_text("idx,sing,plur,freq\n" + "".join(f"_,{a},{b},_\n" for a, b in listed))
    lines = []
    for number, subject in enumerate(SUBJECTS):
        label = -1 if number % 2 else -2
        good, bad = rows[number][:: 1 if label == -1 else -1]
        lines.append({"sentence_good": f"{subject} {good} old", "sentence_bad": f"{subject} {bad} old", "label": label})
    path = tmp_path / "simple_agrmt_all.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path, tmp_path / "verbs.csv", rows


def test_gpt2(tmp_path: Path, materials: tuple[Path, Path, list[tuple[str, str]]]) -> None:
    templates, verbs, rows = materials
    made = transformer("gpt2", byte_level(), sharpen=4.0)
    model = wrap(made, byte_level(), "tiny", bos="no", fill="token")
    words = read_words(f"{verbs}?faults=keep")
    run = fill(
        model, read(templates), words, tmp_path / "run",
        eligible="single-token", top=PUBLISHED_TOP, bottom=PUBLISHED_BOTTOM,
    )  # fmt: skip

    # As published: a capital on the first word and none within it; each left side once, with the label of the first item.
    contexts: dict[str, int] = {}
    verdicts = []
    for number, subject in enumerate(SUBJECTS):
        head, _, rest = subject.partition(" ")
        left = f"{head.capitalize()} {rest}"
        right = 0 if number % 2 else 1
        contexts.setdefault(left, right)
        p = distribution(made, left)
        verdicts.append(p[rows[number][right]] > p[rows[number][1 - right]])

    table = run.contexts()
    assert [left.rstrip() for left in table["left"]] == list(contexts)
    assert table["eligible"].unique().to_list() == [len(rows)]
    for row, (left, right) in zip(table.iter_rows(named=True), contexts.items(), strict=True):
        p = distribution(made, left)
        for cut in run.cuts:
            end, q = ("bottom", cut.bottom) if cut.bottom < 1 else ("top", cut.top)
            expected = oracle(p, rows, right, end, q)
            found = [row[f"{name}{cut}"] for name in ("equal_weight", "model_weight", "covered")]
            assert found == pytest.approx(expected, nan_ok=True, abs=1e-4), (left, cut)
    found = {one.group["measure"]: one.value for one in estimates(run)}
    assert found["tse"] == np.mean(verdicts)
    assert found["equal_weight"] == pytest.approx(table["equal_weight"].mean())
