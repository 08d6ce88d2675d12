"""Texts as the content of messages, under a chat template."""

import math
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
import torch
from models_for_tests import byte_level, sentencepiece_like, transformer

import syntagm as sg

MARKED = (
    "{{ bos_token }}{% for message in messages %}<|{{ message['role'] }}|>\n{{ message['content'] }}{{ eos_token }}"
    "{% endfor %}{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)
# Like Llama 2's: the blank before the content becomes part of its first token.
BRACKETS = (
    "{% for message in messages %}{% if message['role'] != 'user' %}{{ raise_exception('Roles must alternate') }}{% endif %}"
    "{{ bos_token + '[INST] ' + message['content'] + ' [/INST]' }}{% endfor %}"
)
TEXTS = ["The old gardener watered the roses.", "Ten boats", "The café"]


def with_template(tokenizer: Any, template: str | None) -> Any:
    tokenizer = deepcopy(tokenizer)
    tokenizer.chat_template = template
    return tokenizer


def expected(model: Any, ids: list[int], first: int) -> list[float]:
    with torch.inference_mode():
        rows = torch.log_softmax(model(torch.tensor([ids])).logits[0], -1)
    return [-float(rows[at - 1, ids[at]]) / math.log(2) for at in range(first, len(ids))]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "tokenizer", "template", "role"),
    [
        ("gpt2", byte_level(), MARKED, "user"),
        ("gpt2", byte_level(), MARKED, "assistant"),
        ("llama", sentencepiece_like(), BRACKETS, "user"),
    ],
)
def test_the_numbers_are_those_of_the_rendered_chat(kind: str, tokenizer: Any, template: str, role: str) -> None:
    tokenizer = with_template(tokenizer, template)
    model = transformer(kind, tokenizer)
    chat = sg.from_transformers(model, tokenizer, name="tiny", chat=role)
    for text, answer in zip(TEXTS, chat.score(TEXTS), strict=True):
        whole = tokenizer.apply_chat_template([{"role": role, "content": text}], tokenize=False)
        ids = tokenizer(whole, add_special_tokens=False)["input_ids"]
        assert ids.count(tokenizer.bos_token_id) == (2 if template == MARKED else 1), (
            "bos once; MARKED ends with eos = bos"
        )
        text_ids = ids[: -len(tokenizer(whole.partition(text)[2], add_special_tokens=False)["input_ids"])]
        if template == BRACKETS:
            text_ids = tokenizer(whole.partition(" [/INST]")[0], add_special_tokens=False)["input_ids"]
        first = len(text_ids) - len(answer.bits)
        np.testing.assert_allclose(answer.bits, expected(model, text_ids, first), rtol=0, atol=1e-3)
        assert answer.starts[0] == 0
        plain = next(sg.from_transformers(model, tokenizer, name="tiny").score([text]))
        assert answer.starts.tolist() == plain.starts.tolist()
        assert not np.allclose(answer.bits, plain.bits)


@pytest.mark.slow
def test_a_prefix_has_the_bits_of_the_beginning_and_windows_repeat_the_template() -> None:
    tokenizer = with_template(byte_level(), MARKED)
    chat = sg.from_transformers(transformer("gpt2", tokenizer), tokenizer, name="tiny", chat="user")
    whole, part, empty = chat.score(["The old gardener", "The old", ""])
    np.testing.assert_allclose(whole.bits[: len(part.bits)], part.bits, rtol=0, atol=1e-4)
    assert len(empty.bits) == 0
    [long] = chat.read([" ".join(["roses"] * 120)])
    assert not np.isnan(long.surprisals.bits).any()
    assert long.windows > 1


@pytest.mark.slow
def test_names_signatures_and_records_show_the_chat_and_default_ones_do_not_change() -> None:
    tokenizer = with_template(byte_level(), MARKED)
    model = transformer("gpt2", tokenizer)
    chat = sg.from_transformers(model, tokenizer, name="tiny", chat="user")
    assert chat.name == "causal:tiny?chat=user"
    assert chat.settings["chat"] == "user"
    assert "bos" not in chat.settings
    assert chat.bos == "<|endoftext|><|user|>\n"
    assert chat.record["chat"]["before each text"] == chat.bos
    assert "fill" not in chat.can
    plain = sg.from_transformers(model, tokenizer, name="tiny")
    without = sg.from_transformers(model, byte_level(), name="tiny", chat="no")
    assert plain.fingerprint == without.fingerprint
    assert plain.fingerprint != chat.fingerprint
    assert "chat" not in plain.settings
    other = with_template(byte_level(), MARKED.replace("<|{{", "<{{"))
    assert sg.from_transformers(model, other, name="tiny", chat="user").fingerprint != chat.fingerprint


@pytest.mark.slow
@pytest.mark.parametrize(
    ("template", "options", "match"),
    [
        (None, {"chat": "user"}, "no chat template"),
        (MARKED, {"chat": "system"}, "one of no, user, assistant"),
        (MARKED, {"chat": "user", "bos": "yes"}, "bos=yes with chat=user"),
        (MARKED, {"chat": "user", "eos": "yes"}, "eos=yes with chat=user"),
        (MARKED, {"chat": "user", "boundary": "word"}, "boundary=word with chat=user"),
        (BRACKETS, {"chat": "assistant"}, "Roles must alternate"),
        ("{{ bos_token }}", {"chat": "user"}, "writes the content 0 times"),
    ],
)
def test_what_is_refused(template: str | None, options: dict[str, str], match: str) -> None:
    tokenizer = with_template(byte_level(), template)
    with pytest.raises(sg.SyntagmError, match=match):
        sg.from_transformers(transformer("gpt2", tokenizer), tokenizer, name="tiny", **options)


@pytest.mark.slow
def test_a_border_inside_a_token_is_refused() -> None:
    # The first two letters of `The` are one token.
    tokenizer = with_template(byte_level(), "T{{ messages[0]['content'] }}")
    chat = sg.from_transformers(transformer("gpt2", tokenizer), tokenizer, name="tiny", chat="user")
    with pytest.raises(
        sg.ModelError, match=r"the token 'The?', which is part of 'he dog' and of what precedes it, 'T'"
    ):
        list(chat.score(["he dog"]))
    tokenizer = with_template(byte_level(), MARKED)
    chat = sg.from_transformers(transformer("gpt2", tokenizer), tokenizer, name="tiny", chat="user")
    with pytest.raises(sg.ModelError, match="the special symbol"):
        list(chat.score(["a <|endoftext|> b"]))


def test_a_template_with_a_symbol_that_the_model_lacks() -> None:
    tokenizer = with_template(byte_level(), "<|turn|>{% for message in messages %}{{ message['content'] }}{% endfor %}")
    model = transformer("gpt2", tokenizer)
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|turn|>"]})
    number = len(tokenizer) - 1
    with pytest.raises(
        sg.ModelError, match=rf"the template's '<\|turn\|>' \(number {number}\); expected a number below"
    ):
        sg.from_transformers(model, tokenizer, name="tiny", chat="user")
