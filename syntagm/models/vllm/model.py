"""Hugging Face causal language models computed by vLLM: `vllm:./folder`, `vllm:org/name@revision`.

Texts are tokenised here, as for `causal`, and given to vLLM as token ids. It returns the log-probability of each
(`prompt_logprobs`), and generates a token that is dropped.
"""

import hashlib
import importlib
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import huggingface_hub
import numpy as np
import transformers
from numpy.typing import NDArray

from syntagm.core import ModelError, UsageError, hub
from syntagm.models.answers import InContext, Surprisals
from syntagm.models.conformance import TEXTS
from syntagm.models.contract import LanguageModel
from syntagm.models.hugging_face.loading import refuse_damaged
from syntagm.models.hugging_face.tokens import encode, refuse_random, symbol
from syntagm.models.hugging_face.unsafe import is_foreign, refuse_unsafe
from syntagm.models.hugging_face.weights import hash_folder
from syntagm.models.possible import ROUNDING_NATS, round_up
from syntagm.models.vllm.family import FAMILY
from syntagm.models.windows import Window, before, in_batches, once, overlap_of

SCORER = "vllm 1"
# The number of texts that vLLM is given at a time; it divides them into batches itself.
BATCH = 256
_DTYPES = {"f32": "float32", "bf16": "bfloat16", "f16": "float16"}
# What vLLM may give for a probability of 0, in nats.
_ZERO = -9999.0
_CURE = "vLLM's own messages, above, may say more; VLLM_LOGGING_LEVEL=INFO shows all of them."


class Vllm(LanguageModel):
    """A model in vLLM, created by `load`."""

    # The weights are in processes of vLLM's.
    steady: ClassVar[bool] = False

    def __init__(self, program: Any, folder: Path, label: str, options: Mapping[str, str], code: bool = False) -> None:
        chosen = FAMILY.choose(options)
        self.name = FAMILY.canonical(label, options)
        try:
            config = transformers.AutoConfig.from_pretrained(folder, trust_remote_code=code)
            stated, _ = transformers.PretrainedConfig.get_config_dict(folder)
            self._tokenizer = transformers.AutoTokenizer.from_pretrained(folder, use_fast=True, trust_remote_code=code)
            reserved = {"gpu_memory_utilization": int(chosen["memory"]) / 100} if "memory" in chosen else {}
            self._engine = program.LLM(
                model=str(folder), dtype=_DTYPES[chosen["dtype"]], trust_remote_code=code, load_format="safetensors",
                tensor_parallel_size=int(chosen["gpus"]), enable_prefix_caching=False, seed=0,
                max_model_len=int(chosen["positions"]) if "positions" in chosen else None, **reserved,
            )  # fmt: skip
        except BaseException as error:  # both libraries raise exceptions of many types, and panics of tokenizers
            if not is_foreign(error):
                raise
            raise ModelError(self.name, _shown(error), "a model that vLLM can load", _CURE) from error
        self._sampling = program.SamplingParams(temperature=0.0, max_tokens=1, prompt_logprobs=0, detokenize=False)
        self._bos, about_bos = symbol("bos", chosen["bos"], self._tokenizer, config, stated)
        self._eos, about_eos = symbol("eos", chosen["eos"], self._tokenizer, config, stated)
        self.warnings = tuple(filter(None, (about_bos, about_eos)))
        symbols = {"start": self._bos, "end": self._eos}
        refuse_random(self._tokenizer, symbols, config.get_text_config().vocab_size, self.name)
        self.bos, self.eos = self._symbol(self._bos), self._symbol(self._eos)
        # A token is generated after a text, and needs a position, too.
        self._positions = int(self._engine.llm_engine.model_config.max_model_len)
        self._size = self._positions - 1 - (self._bos is not None)
        self.settings = FAMILY.scoring_settings(chosen, bos="no" if self._bos is None else "yes")
        weights, version = hash_folder(folder), str(program.__version__)
        described = [SCORER, weights, self._bos, self._eos, self._positions, self.settings]
        self.fingerprint = hashlib.sha256(json.dumps(described).encode()).hexdigest()
        self.record = {
            "architecture": config.model_type, "weights": weights, "options": dict(options), "vllm": version,
            "transformers": transformers.__version__, "positions": self._positions, "gpus": chosen["gpus"],
            **({"symbols": list(self.warnings)} if self.warnings else {}),
        }  # fmt: skip
        self.probes = [next(iter(self.score([text]))) for text in TEXTS]
        self.numerical_error = self._noise()

    def score(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[Surprisals]:
        """Compute the surprisals of each text; see `LanguageModel.score`. Tokens beyond the positions are undefined."""

        def beginnings(batch: list[str]) -> list[Surprisals]:
            windows = [Window(0, self._size, 0, self._size)]
            return [answer.surprisals for answer in self._answers(batch, lambda _: windows)]

        yield from once(texts, in_batches(BATCH, beginnings), done)

    def read(
        self, texts: Sequence[str], overlap: int | None = None, done: Callable[[int], None] | None = None
    ) -> Iterator[InContext]:
        least = 0 if self._bos is not None else 1
        shared = overlap_of(overlap, self._size, self._positions, self.name, least=least)
        for text in texts:
            yield from self._answers([text], lambda tokens: before(tokens, self._size, shared))
            if done:
                done(len(text))

    def _answers(self, texts: Sequence[str], windows: Callable[[int], Sequence[Window]]) -> list[InContext]:
        """Score texts in windows; `windows` gives those of a number of tokens."""
        start, end = ([] if symbol is None else [symbol] for symbol in (self._bos, self._eos))
        encoded = list(encode(self._tokenizer, texts, self.name))
        plans = [windows(len(text_tokens.ids) + len(end)) for text_tokens in encoded]
        sequences = [
            [*start, *[*text_tokens.ids, *end][window.begin : window.end]]
            for text_tokens, plan in zip(encoded, plans, strict=True)
            for window in plan
        ]
        scored, answers = iter(self._bits(sequences)), []
        for text, text_tokens, plan in zip(texts, encoded, plans, strict=True):
            size = len(text_tokens.ids) + len(end)
            bits, context = np.full(size, np.nan), np.arange(size, dtype=np.int32)
            for window in plan:
                window_bits = next(scored)[len(start) :]
                bits[window.first : window.last] = window_bits[window.first - window.begin :]
                context[window.first : window.last] -= window.begin
            starts, in_vocabulary = text_tokens.starts, text_tokens.in_vocabulary
            if end:
                starts, in_vocabulary = np.append(starts, np.int32(len(text))), np.append(in_vocabulary, True)
            answers.append(InContext(Surprisals(text, starts, bits, in_vocabulary), context, max(1, len(plan))))
        return answers

    def _bits(self, sequences: Sequence[list[int]]) -> list[NDArray[np.float64]]:
        """Return the bits of each token of each sequence; those of a first token are nan."""
        asked = [sequence for sequence in sequences if len(sequence) > 1]
        prompts = [{"prompt_token_ids": sequence} for sequence in asked]
        try:
            outputs = iter(self._engine.generate(prompts, self._sampling, use_tqdm=False) if asked else [])
        except Exception as error:  # vLLM raises exceptions of many types
            raise ModelError(self.name, _shown(error), "log-probabilities", _CURE) from error
        return [
            self._read(next(outputs), sequence) if len(sequence) > 1 else np.full(len(sequence), np.nan)
            for sequence in sequences
        ]

    def _read(self, output: Any, ids: list[int]) -> NDArray[np.float64]:
        """Check the log-probabilities of a sequence, and return its bits."""
        listed = output.prompt_logprobs
        if list(output.prompt_token_ids) != ids or listed is None or len(listed) != len(ids):
            found = f"vLLM's answer to other tokens than those asked about, {ids[:10]} ..."
            raise ModelError(self.name, found, "a log-probability of each of these tokens")
        bits = np.full(len(ids), np.nan)
        for place, (number, entry) in enumerate(zip(ids[1:], listed[1:], strict=True), 1):
            value = math.nan if entry is None or number not in entry else float(entry[number].logprob)
            if not _ZERO < value <= ROUNDING_NATS:
                symbol = self._symbol(number)
                raise ModelError(
                    self.name, f"the log-probability {value} of the token {symbol!r}", "a number of at most 0"
                )
            bits[place] = -value / math.log(2) + 0.0
        return bits

    def _noise(self) -> float:
        """Return the largest difference in bits, per text, between texts that are scored alone and together."""
        pairs = zip(self.score(TEXTS), self.probes, strict=True)
        differences = [abs(float(np.nansum(together.bits) - np.nansum(alone.bits))) for together, alone in pairs]
        return round_up(max(differences))

    def _symbol(self, number: int | None) -> str | None:
        return None if number is None else str(self._tokenizer.convert_ids_to_tokens(number))


def load(path: str, trust_remote_code: bool = False, **options: str) -> Vllm:
    """Load a model into vLLM: the folder `path`, or the model of that name on the hub."""
    FAMILY.choose(options)
    place = f"vllm:{path}"
    if not path:
        raise UsageError(f"model '{place}'", "no path", "a folder, or the name of a model on the Hugging Face Hub")
    # By default, vLLM prints much, and to the standard output, where commands print their results.
    os.environ.setdefault("VLLM_LOGGING_STREAM", "ext://sys.stderr")
    os.environ.setdefault("VLLM_LOGGING_LEVEL", "WARNING")
    try:
        program = importlib.import_module("vllm")
    except ImportError as error:
        cure = "Install it (pip install vllm), or use causal:, which needs no vLLM."
        raise ModelError(place, f"vLLM can't be imported ({error})", "an installed vLLM", cure) from error
    folder, label = Path(path), path
    if folder.is_dir():
        refuse_damaged(folder)
        label = f"{folder.resolve().name}@{hash_folder(folder)[:8]}"
    else:
        folder = _fetched(path)
    refuse_unsafe(folder, False, trust_remote_code, "vllm")
    return Vllm(program, folder, label, options, trust_remote_code)


def _shown(error: BaseException) -> str:
    return " ".join(str(error).split())[:500] or type(error).__name__


def _fetched(path: str) -> Path:
    """Return the folder of a model from the hub's cache, or from the hub."""
    name, _, revision = path.partition("@")
    patterns = ["*.json", "*.safetensors", "*.model", "*.txt", "*.py", "*.jinja"]
    try:
        return Path(huggingface_hub.snapshot_download(name, revision=revision or None, allow_patterns=patterns))
    except Exception as error:  # the hub's library raises exceptions of many types
        found = " ".join(str(error).split())[:300]
        found = f"no such folder, and on the hub: {found}"
        raise ModelError(f"vllm:{path}", found, "a folder or a model", hub.download(name, revision)) from error
