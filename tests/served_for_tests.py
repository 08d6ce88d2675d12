"""HTTP servers on this machine that answer completions as vLLM, SGLang and llama-cpp-python do, and as they shouldn't.

The numbers are those of a tiny transformers model. The formats are those of answers of vLLM 0.32 and llama-cpp-python 0.3.36:
vLLM shows nothing of a token that ends inside a character, and adds it to the token that completes it, if that ends with it;
llama-cpp-python does not list the start symbol, and leaves out parts of characters. SGLang's follow its program: it decodes
each token alone, and gives no offsets.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import torch
from models_for_tests import byte_level, sentencepiece_like, transformer

from syntagm.models.hugging_face.tokens import BYTES

Request = dict[str, Any]
# What is sent instead of an answer: a function that writes to the connection and returns True, or False for the answer.
Fault = Callable[[BaseHTTPRequestHandler, Request], bool]


@cache
def network(kind: str, tokens: str) -> tuple[Any, Any]:
    """A tiny model and its tokenizer."""
    tokenizer = sentencepiece_like() if tokens == "sentencepiece" else byte_level()
    return transformer(kind, tokenizer), tokenizer


class Answers:
    """The answers of a server.

    Arguments:
        server: "vllm", "sglang" or "llama_cpp", "shifted", which is llama-cpp-python and a model without a start symbol, or
            "other", whose numbers are those of other tokens.
        model: the transformers model and its tokenizer.
        round_to: the number of decimals; None for all.
    """

    def __init__(self, server: str, model: tuple[Any, Any], round_to: int | None = None) -> None:
        self.server, (self.model, self.tokenizer), self.round_to = server, model, round_to
        self.lock = threading.Lock()

    def completion(self, request: Request) -> Request:
        ids = self.tokenizer(request["prompt"])["input_ids"]
        with self.lock, torch.inference_mode():
            logits = self.model(input_ids=torch.tensor([ids]), use_cache=False).logits[0].float()
        table = torch.log_softmax(logits, -1)
        generated = int(table[-1].argmax())
        values = [None, *(float(row[number]) for row, number in zip(table, [*ids[1:], generated], strict=True))]
        numbers, bos = [*ids, generated], self.tokenizer.bos_token_id
        if self.server in ("shifted", "other"):
            values = [None, *(float(row[number]) for row, number in zip(table[1:], ids[1:], strict=True)), 0.0]
        if not request["echo"]:
            numbers, values = numbers[-1:], [float(table[-1].max())]
        elif self.server == "llama_cpp" and ids[0] == bos:
            numbers, values = numbers[1:], [None, *values[2:]]
        elif self.server == "shifted":
            numbers, values = numbers[:-1], values[:-1]
        pieces = [self.piece(numbers, place) for place in range(len(numbers))]
        if self.round_to is not None:
            values = [value if value is None else round(value, self.round_to) for value in values]
        offsets = [-1] * len(pieces)
        if self.server != "sglang":
            offsets = [sum(map(len, pieces[:index])) for index in range(len(pieces))]
        return {
            "id": "cmpl-1", "object": "text_completion", "created": int(time.time()), "model": request["model"],
            "choices": [{
                "index": 0, "text": "".join(pieces), "finish_reason": "length",
                "logprobs": {
                    "tokens": pieces, "token_logprobs": values, "text_offset": offsets,
                    "top_logprobs": [None if value is None else {"the": value} for value in values],
                },
            }],
            "usage": {"prompt_tokens": len(ids), "completion_tokens": 1, "total_tokens": len(ids) + 1},
        }  # fmt: skip

    def piece(self, numbers: list[int], place: int) -> str:
        [token] = self.tokenizer.convert_ids_to_tokens(numbers[place : place + 1])
        if self.server in ("llama_cpp", "shifted"):
            if token.startswith("<0x"):
                return bytes([int(token[3:5], 16)]).decode("utf-8", "ignore")
            if BYTES.keys() >= set(token):
                return bytes(BYTES[letter] for letter in token).decode("utf-8", "ignore")
            return str(token.replace("▁", " "))
        piece = self.tokenizer.decode(numbers[place : place + 1])
        return self.completed(numbers, place) if self.server == "vllm" and piece.endswith("\ufffd") else str(piece)

    def completed(self, numbers: list[int], place: int) -> str:
        """The characters that a token completes, as vLLM shows them."""
        for begin in range(place - 1, max(-1, place - 5), -1):
            whole = self.tokenizer.decode(numbers[begin : place + 1])
            if not whole.endswith("\ufffd"):
                end = place
                while end > begin and self.tokenizer.decode(numbers[end - 1 : end]).endswith("\ufffd"):
                    end -= 1
                return str(whole[len(self.tokenizer.decode(numbers[begin:end])) :])
        return ""

    def tokens(self, request: Request) -> Request:
        """vLLM's answer to /tokenize."""
        numbers = self.tokenizer(request["prompt"])["input_ids"]
        return {
            "count": len(numbers), "max_model_len": 128, "tokens": numbers,
            "token_strs": self.tokenizer.convert_ids_to_tokens(numbers),
        }  # fmt: skip


class Server(ThreadingHTTPServer):
    """A server on a port of its own.

    Attributes:
        fault: what happens instead of an answer to a completion, if anything.
        requests: the bodies of the requests for completions.
        headers: their headers.
        most: the largest number of requests at the same time.
    """

    daemon_threads = True
    block_on_close = False

    def __init__(self, answers: Answers, fault: Fault | None = None, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.answers, self.fault = answers, fault
        self.requests: list[Request] = []
        self.headers: list[dict[str, str]] = []
        self.busy = self.most = 0
        self.count = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of connections that a client ended."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        if self.path != "/v1/models":
            send(self, 404, {"error": {"message": "no such page"}})
            return
        entry = {
            "id": "org/tiny",
            "object": "model",
            "created": int(time.time()),
            "owned_by": {"llama_cpp": "me", "shifted": "me"}.get(
                self.server.answers.server, self.server.answers.server
            ),
        }
        send(self, 200, {"object": "list", "data": [entry]})

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        if self.path == "/tokenize":
            send(self, 200, server.answers.tokens(request))
            return
        if self.path != "/v1/completions":
            send(self, 404, {"error": {"message": "no such page"}})
            return
        with server.count:
            server.requests.append(request)
            server.headers.append(dict(self.headers))
            server.busy += 1
            server.most = max(server.most, server.busy)
        try:
            if not (server.fault and server.fault(self, request)):
                send(self, 200, server.answers.completion(request))
        finally:
            with server.count:
                server.busy -= 1

    def log_message(self, *_: Any) -> None:
        pass


def send(handler: BaseHTTPRequestHandler, status: int, body: object, **headers: str) -> None:
    """Send JSON, or bytes as they are."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    handler.send_response(status)
    for name, value in {"Content-Length": str(len(content)), **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(content)


@contextmanager
def serving(
    server: str, kind: str = "llama", tokens: str = "sentencepiece", round_to: int | None = None, port: int = 0
) -> Iterator[Server]:
    """Serve a tiny model."""
    listening = Server(Answers(server, network(kind, tokens), round_to), port=port)
    thread = threading.Thread(target=listening.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield listening
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()
