"""Language models on a server with OpenAI's completions interface: `openai:http://localhost:8000/v1?model=NAME`.

Each text is a request of its own for a completion of one token, with the text echoed: the answer lists the tokens of the
text and the log-probability of each. The tokens must be those of the text (`answers.offsets`); the generated one is dropped.
llama.cpp's own server does not echo texts, and is asked for one token after another (`servers`); vLLM is asked how its
vocabulary spells tokens that it doesn't show exactly.

Servers differ in what precedes a text, in rounding and in bugs, so a few texts are asked about when a model is loaded:

* A first token that all answers share, and that is no part of the texts, is the start-of-text symbol.
* The same texts are asked about together, in another order, and cut short. The largest difference between two answers, and
  the rounding of the numbers, are the numerical error.
* The tokens with which the server continues a few texts must have the same log-probability when they are echoed. Otherwise
  the echoed numbers are not those of the next token, for example those of the token after it.

The fingerprint covers what the server says of the model, and the answers to these texts: rounded to 0.1 bits a text, or, if
they vary, as with 16-bit floats, their sum rounded to 10 bits, so that a run can be resumed after the server was started again.
This is weak: a server can change its model without a sign of it in either. So it is asked about these texts again as long as
it is used (`models.asking`).
"""

import hashlib
import json
import math
import os
import re
import sys
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ClassVar

import numpy as np

from syntagm.core import InputError, ModelError, UsageError
from syntagm.models.answers import Surprisals
from syntagm.models.conformance import prefixes
from syntagm.models.contract import LanguageModel
from syntagm.models.hugging_face.tokens import refuse_surrogates, starts_of
from syntagm.models.openai import servers
from syntagm.models.openai.answers import Completion, completion, decimals, offsets
from syntagm.models.openai.client import Client, Spent
from syntagm.models.openai.family import FAMILY
from syntagm.models.possible import fault_in_tokens, round_up
from syntagm.models.windows import once

SCORER = "openai 2"
PROBES = (
    "The gardener who admired the boats was tired.",
    "No dog near the cats ever barks at night",
    "What did she say that the teachers had read?",
    "A naïve café owner paid 12 euros for it.",
    "In the spring, most of the birds come back to the lake",
)
# The largest difference in nats between the log-probabilities of a token when it is generated and when it is echoed. It is
# that of 16-bit floats; a wrong token differs by more.
_SAME = 0.1
# Noise in bits per text up to which rounding to 0.1 bits gives the same fingerprint each time, but for one load in some twenty.
_STEADY = 0.002
# Numbers with more decimals than these are not rounded.
_UNROUNDED = 9
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]{0,100}")


class Served(LanguageModel):
    """A model on a server, created by `load`."""

    one_by_one: ClassVar[bool] = True
    steady: ClassVar[bool] = False

    def __init__(self, client: Client, about: Mapping[str, str], options: Mapping[str, str], place: str) -> None:
        chosen = FAMILY.choose(options)
        self._client, self._model, self._place = client, about["id"], place
        self._spells = about.get("owned_by") == servers.VLLM and servers.lists_tokens(
            client, self._model, "tokens of a text"
        )
        self._llama_cpp = about.get("owned_by") == servers.LLAMA_CPP
        self._parallel, self._symbol = int(chosen["parallel"]), "" if chosen["bos"] == "auto" else chosen["bos"]
        weakref.finalize(self, _report, client.spent, place)
        first = [self._asked(text, threading.Event()) for text in PROBES]
        self._refuse_shifted(first)
        self._listed = self._start(first)
        self.settings = FAMILY.scoring_settings(chosen, bos="no" if self.bos is None else "yes")
        self.probes = [self._answer(text, echo) for text, echo in zip(PROBES, first, strict=True)]
        noise, rounding = self._noise(self.probes), self._rounding(first)
        self.numerical_error = round_up(noise + rounding)
        agree = self._check_continuations()
        totals = [float(np.nansum(answer.bits)) for answer in self.probes]
        probe: list[object] = [
            [answer.starts.tolist(), round(total, 1)] for answer, total in zip(self.probes, totals, strict=True)
        ]
        if noise > _STEADY:
            probe = [*(answer.starts.tolist() for answer in self.probes), round(sum(totals), -1)]
        described = [SCORER, dict(about), self.bos, self.settings, probe]
        self.fingerprint = hashlib.sha256(json.dumps(described).encode()).hexdigest()
        self.name = FAMILY.canonical(f"{_label(self._model)}@{self.fingerprint[:8]}", options)
        self.record = {
            "server": dict(about),
            "identified by": "what the server says, and its answers to a few texts; the weights are not known",
            **({"first token": "not scored, though a start symbol precedes it"} if self._lost(first) else {}),
            "probe": [round(total, 1) for total in totals],
            "noise": noise,
            "rounding": rounding,
            "continuations": f"{agree} of {len(PROBES)} have the log-probability of their echo",
        }

    def score(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[Surprisals]:
        refuse_surrogates(texts, self._place)
        if self.bos and (text := next((text for text in texts if self.bos in text), None)) is not None:
            raise ModelError(
                self._place, f"the special symbol {self.bos!r} inside {text!r:.100}", "plain text",
                "Special symbols are added by the server and the option bos, and can't be part of a text.",
            )  # fmt: skip
        stop = threading.Event()
        pool = ThreadPoolExecutor(self._parallel, thread_name_prefix="syntagm-openai")
        waiting: deque[tuple[str, Future[Completion] | None]] = deque()

        def next_answer(distinct: Iterator[str]) -> tuple[list[str], list[Surprisals]]:
            # Twice as many as are in flight, so that none waits for this thread.
            while len(waiting) < 2 * self._parallel and (text := next(distinct, None)) is not None:
                waiting.append((text, pool.submit(self._asked, text, stop) if text else None))
            text, future = waiting.popleft()
            return [text], [self._answer(text, future.result()) if future else _empty()]

        try:
            yield from once(texts, next_answer, done)
        finally:
            self._client.stopped(stop)
            pool.shutdown(cancel_futures=True)

    def _asked(self, text: str, stop: threading.Event, echo: bool = True) -> Completion:
        """Request a completion of one token."""
        prompt, place = self._symbol + text, f"answer to the text {text[:60]!r}"
        body = {
            "model": self._model, "prompt": prompt, "max_tokens": 1, "temperature": 0, "logprobs": 1, "echo": echo,
            "stream": False,
        }  # fmt: skip
        try:
            if self._llama_cpp:
                answer = servers.completed_stepwise(self._client, prompt, bool(self._symbol), echo, place, stop)
            else:
                answer = completion(self._client.post(f"{self._client.base}/completions", body, place, stop), place)
        except InputError as error:
            raise self._refused(error) from None
        self._client.used(answer.prompt, answer.generated)
        return answer

    def _refuse_shifted(self, echoes: Sequence[Completion]) -> None:
        """Refuse the answers of llama-cpp-python for models without a start symbol, which are wrong."""
        # The tokens are those of the text; the generated one is missing.
        if all(
            echo.generated and "".join(echo.pieces) == text
            for text, echo in zip(PROBES, echoes, strict=True)
            if text.isascii()
        ):
            raise self._client.refused(
                "answers that list the tokens of a text, but not the one that was generated after them", "all of these tokens",
                "This is a bug of llama-cpp-python for models without a start symbol; it also reads each log-probability one "
                "token too late. Use llama.cpp's own server.",
            )  # fmt: skip

    def _start(self, echoes: Sequence[Completion]) -> bool:
        """Set `bos`; return whether it is listed before the tokens of a text."""
        firsts = {echo.pieces[:1] for echo in echoes}
        listed = len(firsts) == 1 and all(echo.logprobs[:1] == (None,) for echo in echoes)
        if listed:
            [[piece]] = firsts
            if self._symbol and piece not in ("", self._symbol):
                raise ModelError(
                    self._place, f"the server puts {piece!r} before bos={self._symbol}, or spells it in several tokens",
                    "a single start symbol", "Use bos=auto, or see how the tokenizer spells the symbol.",
                )  # fmt: skip
            self.bos = piece or self._symbol or "a start symbol that the server does not spell"
        elif self._symbol:
            raise ModelError(
                self._place, f"bos={self._symbol} is not among the tokens that the server lists", "a token of its own",
                "Use bos=auto, or another server: this one may know no special symbols in texts.",
            )  # fmt: skip
        elif all(echo.logprobs[:1] != (None,) for echo in echoes):
            self.bos = "a start symbol that the server does not list"
        return listed

    def _lost(self, echoes: Sequence[Completion]) -> bool:
        """Return whether a start symbol is read, but not listed, and the first token is not scored."""
        return self.bos is None and all(len(echo.pieces) - echo.generated < echo.prompt for echo in echoes)

    def _answer(self, text: str, echo: Completion) -> Surprisals:
        place = f"answer to the text {text[:60]!r}"
        pieces, logprobs = echo.pieces, echo.logprobs
        if (count := len(pieces) - echo.generated) not in (echo.prompt, echo.prompt - 1):
            found = f"{len(pieces)} tokens, {echo.generated} of them generated, of a prompt of {echo.prompt}"
            raise self._refused(InputError(place, found, "the tokens of the prompt and of the completion"))
        pieces, logprobs = pieces[self._listed : count], logprobs[self._listed : count]
        try:
            spans = self._spelled(text, pieces, place) or offsets(text, pieces, place)
        except InputError as error:
            raise self._refused(error) from None
        if logprobs and (logprobs[0] is None) != (self.bos is None):
            found = "a first token " + ("with" if self.bos is None else "without") + " a log-probability"
            raise self._refused(InputError(place, found, "the same as for other texts"))
        # Adding 0.0 turns -0.0 into 0.0.
        bits = np.array([math.nan if value is None else -value / math.log(2) for value in logprobs], np.float64) + 0.0
        starts = starts_of(text, spans, self._place)
        answer = Surprisals(text, starts, bits, np.ones(len(bits), bool))
        if problem := fault_in_tokens(answer, False):
            raise self._refused(InputError(place, problem.found, problem.expected))
        return answer

    def _spelled(self, text: str, pieces: Sequence[str], place: str) -> list[tuple[int, int]] | None:
        """Return the offsets of tokens that vLLM's completions don't show exactly; None if that is not needed or not possible."""
        if not self._spells or "".join(pieces) in (text, f" {text}"):
            return None
        tokens = servers.vocabulary_tokens(self._client, self._model, self._symbol + text, place)[self._listed :]
        return servers.byte_offsets(text, tokens) if len(tokens) == len(pieces) else None

    def _noise(self, alone: Sequence[Surprisals]) -> float:
        """Return the largest difference in bits, per text, between answers to texts that are asked about in two ways."""
        begun = prefixes(PROBES)
        largest = 0.0
        for asked in ([*PROBES, *begun.values()], [*begun.values(), *reversed(PROBES)]):
            together = {answer.text: answer for answer in self.score(asked)}
            for answer in alone:
                for other in (together[answer.text], together[begun[answer.text]]):
                    size = len(other.starts)
                    if (
                        other.starts.tolist() == answer.starts[:size].tolist()
                    ):  # else the beginning is split in another way
                        difference = float(np.nansum(answer.bits[:size]) - np.nansum(other.bits))
                        largest = max(largest, abs(difference))
        return largest

    def _rounding(self, echoes: Sequence[Completion]) -> float:
        """Return the largest error in bits, per text, that is due to the decimals of the log-probabilities."""
        digits = max(decimals(echo.logprobs) for echo in echoes)
        longest = max(len(echo.logprobs) for echo in echoes)
        return 0.0 if digits > _UNROUNDED else longest * 0.5 * 10.0**-digits / math.log(2)

    def _check_continuations(self) -> int:
        """Compare generated tokens with their echoes; return the number of texts for which they agree."""
        agree, differ, stop = 0, list[str](), threading.Event()
        for text in PROBES:
            generated = self._asked(text, stop, echo=False)
            if len(generated.pieces) != 1 or "\ufffd" in (piece := generated.pieces[0]) or not piece.strip():
                continue
            # A piece may have lost the blank before it. In the text, it may also be split in another way.
            echoes = [self._asked(text + blank + piece, stop) for blank in ("", " ")]
            echoed = [
                echo.logprobs[last]
                for echo in echoes
                for last in [len(echo.pieces) - echo.generated - 1]
                if echo.prompt == generated.prompt + 1 and echo.pieces[last] == piece
            ]
            [value] = generated.logprobs
            if any(other is not None and value is not None and abs(value - other) < _SAME for other in echoed):
                agree += 1
            elif echoed:
                differ.append(f"{piece!r} after {text!r}: {value} and {echoed}")
        if not agree or len(differ) > agree:
            raise self._client.refused(
                "its echoed log-probabilities can't be confirmed by those of generated tokens"
                + (f" ({differ[0]:.300})" if differ else ""), "the same for the same token",
                "The echoed numbers may be those of other tokens.",
            )  # fmt: skip
        return agree

    def _refused(self, error: InputError) -> ModelError:
        return self._client.refused(f"{error.place}: {error.found}", error.expected, error.cure)


def check(name: str, path: str, chosen: Mapping[str, str]) -> None:
    """Refuse an address or a key that can't be right, without asking the server; see `Family.checks`."""
    _client(path, chosen)


def load(path: str, **options: str) -> Served:
    """Find a model on the server at the URL `path`."""
    client = _client(path, chosen := FAMILY.choose(options))
    return Served(client, _about(client, chosen.get("model", "")), options, f"openai:{path}")


def _client(path: str, chosen: Mapping[str, str]) -> Client:
    key = _key(chosen["key"]) if chosen.get("key") else ""
    return Client(path, f"openai:{path}", key, float(chosen["seconds"]), int(chosen["tries"]))


def _key(variable: str) -> str:
    # The value is not shown: it may be the key itself.
    if not _VARIABLE.fullmatch(variable):
        raise UsageError(
            "model option key", "no name of a variable", "capital letters, digits and _, such as OPENAI_API_KEY",
            "Put the key in a variable: export OPENAI_API_KEY=..., and ?key=OPENAI_API_KEY.",
        )  # fmt: skip
    if not (key := os.environ.get(variable, "").strip()):
        raise UsageError("model option key", f"the variable {variable} is not set", "a variable that contains the key")
    return key


def _about(client: Client, name: str) -> dict[str, str]:
    """Return what the server says of a model, as far as it does not change with each start."""
    entries = client.get(f"{client.base}/models").get("data")
    models = {
        entry["id"]: entry
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(entry, dict) and isinstance(entry.get("id"), str)
    }
    if not models:
        raise client.refused("a list without models", "the models of the server", "See that the address is right.")
    if not name and len(models) == 1:
        [name] = models
    if name not in models:
        found = f"no model {name!r}" if name else f"{len(models)} models"
        raise UsageError("model option model", found, "one of " + ", ".join(sorted(models))[:500])
    entry = models[name]
    return {key: entry[key] for key in ("id", "owned_by", "root", "parent") if isinstance(entry.get(key), str)}


def _label(name: str) -> str:
    """Return the name of a model as in results: the last part of a path, without characters that options contain."""
    return re.sub(r"[^\w.+-]", "_", name.rstrip("/").split("/")[-1])[:100] or "model"


def _empty() -> Surprisals:
    return Surprisals("", np.zeros(0, np.int32), np.zeros(0), np.ones(0, bool))


def _report(spent: Spent, place: str) -> None:
    """Print what was asked of a server, when the model is no longer used."""
    print(f"{place}: {spent}", file=sys.stderr)
