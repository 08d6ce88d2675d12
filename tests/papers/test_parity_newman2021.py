"""The whole way from templates to estimates, against the released procedure of Newman et al. 2021 carried out plainly.

For GPT-2: the left side of the template as text, no start symbol, the logits at its last token, softmax over the vocabulary;
forms are the tokens that begin with a blank. For BERT: the sentence with a mask in place of the verb and a full stop at its
end, the logits at the mask; forms are the tokens that begin a word. In float64, the vocabulary sorted for each cut-off.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import masked_for_tests
import models_for_tests
import numpy as np
import pytest
import torch
from fill_for_tests import oracle

from syntagm.evaluation import PUBLISHED_BOTTOM, PUBLISHED_TOP
from syntagm.models import LanguageModel
from syntagm.models.causal import model as causal
from syntagm.models.masked import model as masked
from syntagm.runs import fill
from syntagm.suites import read_suite_file, read_word_list as read_words
from syntagm.views import gaps

SUBJECTS = ["the gardener", "the gardeners near the gate", "the boats", "No one", "the painter", "the gardener"]
ENDS = ["old", "old", "here", "here", "old", "new"]
Distribution = Callable[[str, str], dict[str, float]]


def gpt2() -> tuple[LanguageModel, list[str], Distribution]:
    """The model as we ask it, the words that are one token, and the distribution as the released code has it."""
    tokenizer = models_for_tests.byte_level()
    made = models_for_tests.transformer("gpt2", tokenizer, sharpen=4.0)
    names = ["#" + name if name[0] != "Ġ" else name[1:] for name in _tokens(tokenizer, len(tokenizer))]

    def distribution(left: str, _: str) -> dict[str, float]:
        return dict(zip(names, _softmax(made, tokenizer(left).input_ids)[-1], strict=True))

    return causal.from_transformers(made, tokenizer, "tiny", bos="no", fill="token"), names, distribution


def bert() -> tuple[LanguageModel, list[str], Distribution]:
    """The same of a masked model."""
    tokenizer = masked_for_tests.word_pieces()
    made = masked_for_tests.transformer("bert", tokenizer, sharpen=4.0)
    names = _tokens(tokenizer, len(tokenizer))

    def distribution(left: str, right: str) -> dict[str, float]:
        ids = tokenizer(f"{left} [MASK] {right}.").input_ids
        return dict(zip(names, _softmax(made, ids)[ids.index(tokenizer.mask_token_id)], strict=True))

    return masked.from_transformers(made, tokenizer, "tiny"), names, distribution


def _tokens(tokenizer: Any, size: int) -> list[str]:
    return list(tokenizer.convert_ids_to_tokens(range(size)))


def _softmax(made: Any, ids: list[int]) -> list[list[float]]:
    with torch.no_grad():
        found: list[list[float]] = torch.softmax(made(torch.tensor([ids])).logits[0].double(), -1).tolist()
    return found


def materials(folder: Path, names: list[str]) -> tuple[Path, Path, list[tuple[str, str]]]:
    """Templates and a verb list in the published formats; any words of one token do for verbs, and one row is of others."""
    words = sorted(name for name in names if name.isascii() and name.isalpha() and name.islower() and len(name) > 1)
    rows = list(zip(words[0::2], words[1::2], strict=False))
    listed = [("gardenereds", "gardenered"), *rows]
    (folder / "verbs.csv").write_text("idx,sing,plur,freq\n" + "".join(f"_,{a},{b},_\n" for a, b in listed))
    lines = []
    for number, (subject, end) in enumerate(zip(SUBJECTS, ENDS, strict=True)):
        label = -1 if number % 2 else -2
        good, bad = rows[number][:: 1 if label == -1 else -1]
        sentences = {"sentence_good": f"{subject} {good} {end}", "sentence_bad": f"{subject} {bad} {end}"}
        lines.append({**sentences, "label": label})
    path = folder / "simple_agrmt_all.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path, folder / "verbs.csv", rows


@pytest.mark.slow
@pytest.mark.parametrize("family", [gpt2, bert])
def test_the_whole_way(tmp_path: Path, family: Callable[[], tuple[LanguageModel, list[str], Distribution]]) -> None:
    model, names, distribution = family()
    templates, verbs, rows = materials(tmp_path, names)
    run = fill(
        model, read_suite_file(templates), read_words(f"{verbs}?faults=keep"), tmp_path / "run",
        eligible="single-token", top=PUBLISHED_TOP, bottom=PUBLISHED_BOTTOM,
    )  # fmt: skip

    # As published: a capital on the first word and none within it; each context once, with the label of its first item.
    contexts: dict[tuple[str, str], int] = {}
    verdicts = []
    for number, (subject, end) in enumerate(zip(SUBJECTS, ENDS, strict=True)):
        head, _, rest = subject.partition(" ")
        left, right = f"{head.capitalize()} {rest}", 0 if number % 2 else 1
        contexts.setdefault((left, "" if model.sees == "left" else end), right)
        p = distribution(left, end)
        verdicts.append(p[rows[number][right]] > p[rows[number][1 - right]])

    # The last subject is the first one, with another end: a context of its own for BERT only.
    assert len(contexts) == (5 if model.sees == "left" else 6)
    table = gaps.contexts(run)
    assert [left.rstrip() for left in table["left"]] == [left for left, _ in contexts]
    assert table["eligible"].unique().to_list() == [len(rows)]
    for row, ((left, end), right) in zip(table.iter_rows(named=True), contexts.items(), strict=True):
        p = distribution(left, end)
        for cut in gaps.cut_offs(run):
            side, q = ("bottom", cut.bottom) if cut.bottom < 1 else ("top", cut.top)
            expected = oracle(p, rows, right, side, q)
            found = [row[f"{name}{cut}"] for name in ("equal_weight", "model_weight", "covered")]
            assert found == pytest.approx(expected, nan_ok=True, abs=1e-4), (left, cut)
    means = {one.group.measure: one.value for one in gaps.estimates(run)}
    assert means["tse"] == np.mean(verdicts)
    assert means["equal_weight"] == pytest.approx(table["equal_weight"].mean())
