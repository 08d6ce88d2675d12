"""Models on a server: real numbers over real sockets, and servers that answer what they shouldn't."""

import gc
import json
import math
import random
import threading
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import llama_cpp_for_tests
import pytest
from served_for_tests import Fault, Server, network, send, serving

from syntagm.cli import main
from syntagm.core import InputError, ModelError, SyntagmError, UsageError
from syntagm.models import CHECKS, TEXTS, Client, failures, names
from syntagm.models.causal.model import from_transformers
from syntagm.models.openai import client as client_module, servers
from syntagm.models.openai.answers import completion, offsets

SERVERS = {
    "vllm": ("vllm", "gpt2", "bytes", ""),
    "vllm-symbol": ("vllm", "gpt2", "bytes", "?bos=<|endoftext|>"),
    "vllm-llama": ("vllm", "llama", "sentencepiece", ""),
    "sglang": ("sglang", "llama", "sentencepiece", ""),
}
ECHO = {"tokens": ["a", " b", "c"], "token_logprobs": [None, -1.0, -2.0]}
USAGE = {"prompt_tokens": 2, "completion_tokens": 1}


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "FIRST_WAIT", 0.001)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving("sglang") as listening:
        yield listening


@pytest.fixture
def faulty(server: Server) -> Iterator[Server]:
    server.requests.clear()
    server.headers.clear()
    yield server
    server.fault = None


def asked(server: Server, seconds: float = 5.0, tries: int = 3, key: str = "") -> dict[str, Any]:
    """Ask for a completion without the probes of loading."""
    client = Client(server.url, "openai:test", key, seconds, tries)
    client.get("/v1/models")
    body = {"model": "org/tiny", "prompt": "No dog ever barks", "echo": True}
    return client.post("/v1/completions", body, "the answer", threading.Event())


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == "vllm" else pytest.mark.slow) for name in SERVERS]
)
def test_numbers_are_those_of_the_same_model(name: str) -> None:
    kind, architecture, tokens, options = SERVERS[name]
    with serving(kind, architecture, tokens) as server:
        model = names.load(f"openai:{server.url}{options}")
        bos = "no" if name == "vllm" else "yes"
        assert model.settings == {"bos": bos, "eos": "no"}
        assert model.name.startswith("openai:tiny@")
        reference = from_transformers(*network(architecture, tokens), "same", bos=bos)
        for own, other in zip(model.score(TEXTS), reference.score(TEXTS), strict=True):
            assert own.bits == pytest.approx(other.bits, abs=1e-5, nan_ok=True)
            # SGLang shows parts of characters only as replacement characters.
            if (kind == "vllm" or own.text.isascii()) and own.text.strip() == own.text:
                assert own.starts.tolist() == other.starts.tolist()


@pytest.mark.slow
def test_llama_cpp_python_scores_no_first_token() -> None:
    with serving("llama_cpp") as server:
        model = names.load(f"openai:{server.url}")
        reference = from_transformers(*network("llama", "sentencepiece"), "same", bos="yes")
        for own, other in zip(model.score(TEXTS), reference.score(TEXTS), strict=True):
            assert math.isnan(own.bits[0])
            assert own.bits[1:] == pytest.approx(other.bits[1:], abs=1e-5)
        assert model.bos is None
        assert "start symbol" in str(model.record["first token"])


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "message"), [("other", "can't be confirmed"), ("shifted", "bug of llama-cpp-python")])
def test_numbers_of_other_tokens_are_refused(kind: str, message: str) -> None:
    with serving(kind, "gpt2", "bytes") as server, pytest.raises(ModelError, match=message):
        names.load(f"openai:{server.url}")


@pytest.mark.slow
def test_rounded_numbers_have_a_numerical_error() -> None:
    with serving("sglang", round_to=3) as server:
        model = names.load(f"openai:{server.url}")
        [answer] = model.score(TEXTS[:1])
    assert 0.5e-3 / math.log(2) * len(answer.bits) < model.numerical_error < 0.1
    assert model.record["rounding"] > 0


def test_a_server_that_does_not_echo_is_refused(faulty: Server) -> None:
    def without_echo(handler: Any, request: dict[str, Any]) -> bool:
        choice = {"text": "x", "logprobs": {"content": [{"token": "x", "logprob": -1.0}]}}
        send(handler, 200, {"choices": [choice], "usage": USAGE})
        return True

    faulty.fault = without_echo
    with pytest.raises(ModelError, match="The server must echo texts"):
        names.load(f"openai:{faulty.url}")


@pytest.mark.slow
def test_a_text_with_the_start_symbol_is_refused(server: Server) -> None:
    model = names.load(f"openai:{server.url}")
    with pytest.raises(ModelError, match="the special symbol '<s>'"):
        list(model.score(["a <s> b"]))
    with pytest.raises(UsageError, match="lone surrogate"):
        list(model.score(["a \ud800"]))
    assert [answer.text for answer in model.score(["", "a", ""])] == ["", "a", ""]


def test_a_second_start_symbol_is_refused(server: Server) -> None:
    with pytest.raises(ModelError, match="before bos=</s>"):
        names.load(f"openai:{server.url}?bos=</s>")


@pytest.mark.slow
def test_requests_in_flight_are_limited(faulty: Server) -> None:
    model = names.load(f"openai:{faulty.url}?parallel=3")
    faulty.most = 0

    def slowly(handler: Any, request: dict[str, Any]) -> bool:
        time.sleep(0.01)
        return False

    faulty.fault, texts = slowly, [f"No dog {number} barks" for number in range(20)]
    assert [answer.text for answer in model.score(texts)] == texts
    assert faulty.most == 3


@pytest.mark.slow
def test_breaking_off_ends_the_requests(faulty: Server) -> None:
    model = names.load(f"openai:{faulty.url}?parallel=2")
    release = threading.Event()

    def hang(handler: Any, request: dict[str, Any]) -> bool:
        return "first" not in request["prompt"] and release.wait(20)

    def stop(_: int) -> None:
        raise KeyboardInterrupt

    faulty.fault, begun = hang, time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        list(model.score(["the first", "the second", "the third"], stop))
    release.set()
    assert time.monotonic() - begun < 10


@pytest.mark.slow
def test_what_was_asked_is_counted(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    model = names.load(f"openai:{server.url}")
    list(model.score(["a b"]))
    del model
    gc.collect()
    assert "requests, 0 of them retries" in capsys.readouterr().err


@pytest.mark.slow
def test_a_second_model_of_the_same_server_has_the_same_name(server: Server) -> None:
    first, again = (names.load(f"openai:{server.url}?parallel={number}") for number in (1, 4))
    assert (first.name, first.fingerprint) == (again.name, again.fingerprint)


@pytest.mark.slow
def test_a_server_whose_numbers_vary_is_the_same_when_it_is_started_again(server: Server, monkeypatch: Any) -> None:
    """With 16-bit floats, sums of a text vary by some tenths of a bit."""
    draw, completed = random.Random(1), server.answers.completion

    def varied(request: dict[str, Any]) -> dict[str, Any]:
        answer = completed(request)
        logprobs = answer["choices"][0]["logprobs"]
        logprobs["token_logprobs"] = [
            value if value is None else min(0.0, value + draw.gauss(0, 0.01)) for value in logprobs["token_logprobs"]
        ]
        return answer

    monkeypatch.setattr(server.answers, "completion", varied)
    models = [names.load(f"openai:{server.url}") for _ in range(5)]
    assert len({str(model.record["probe"]) for model in models}) > 1
    assert len({model.fingerprint for model in models}) == 1
    with serving("sglang", "gpt2", "bytes") as another:
        assert names.load(f"openai:{another.url}").fingerprint != models[0].fingerprint


def drip(handler: Any, request: dict[str, Any]) -> bool:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    for _ in range(1000):
        handler.wfile.write(b" ")
        time.sleep(0.05)
    return True


def endless(handler: Any, request: dict[str, Any]) -> bool:
    handler.send_response(200)
    handler.send_header("Connection", "close")
    handler.end_headers()
    while True:
        handler.wfile.write(b" " * 100_000)


def answering(status: int, body: object, **headers: str) -> Fault:
    def answer(handler: Any, request: dict[str, Any]) -> bool:
        send(handler, status, body, **headers)
        return True

    return answer


def dying(handler: Any, request: dict[str, Any]) -> bool:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
    handler.close_connection = True
    return True


# What the server sends, what the message says, and how often the server is asked.
FAULTS: dict[str, tuple[Fault, str, int]] = {
    "html": (answering(200, b"<html>Welcome</html>"), "'<html>Welcome</html>'", 1),
    "nan": (answering(200, b'{"choices": NaN}'), "NaN", 1),
    "twice": (answering(200, b'{"a": 1, "a": 2}'), "twice in one object", 1),
    "deep": (answering(200, b"[" * 100_000), "nested more than 64 deep", 1),
    "list": (answering(200, []), "expected a JSON object", 1),
    "not UTF-8": (answering(200, b"\xff"), "not UTF-8", 1),
    "compressed": (answering(200, b"x", Content_Encoding="gzip"), "encoding 'gzip'", 1),
    "elsewhere": (answering(302, b"", Location="http://elsewhere.example/"), "http://elsewhere.example/", 1),
    "too long": (answering(400, {"error": {"message": "at most 128 tokens"}}), "HTTP 400: at most 128 tokens", 1),
    "forbidden": (answering(401, {"error": {"message": "no key"}}), r"\?key=VARIABLE", 1),
    "broken": (answering(500, {"detail": "out of memory"}), "HTTP 500: out of memory, 3 times", 3),
    "patience": (answering(429, b"slow down", Retry_After="0"), "HTTP 429: slow down, 3 times", 3),
    "much patience": (answering(429, b"", Retry_After="86400"), "asks to wait 86,400 seconds", 1),
    "dying": (dying, r"broken one \(IncompleteRead", 3),
    "drip": (drip, "no complete answer within 0.3 seconds, 3 times", 3),
    "endless": (endless, "an answer of more than 1,000,000 bytes", 1),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_a_bad_answer_gives_one_clear_error(name: str, faulty: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "MAX_ANSWER", 1_000_000)
    faulty.fault, message, requests = FAULTS[name]
    with pytest.raises(ModelError, match=message):
        asked(faulty, seconds=0.3 if name == "drip" else 5.0)
    assert len(faulty.requests) == requests


def test_a_request_is_tried_again(faulty: Server) -> None:
    def twice(handler: Any, request: dict[str, Any]) -> bool:
        if (again := len(faulty.requests) < 3) and len(faulty.requests) == 1:
            send(handler, 503, {"error": {"message": "loading"}}, Retry_After="0")
        elif again:
            dying(handler, request)
        return again

    faulty.fault = twice
    assert asked(faulty)["usage"]["prompt_tokens"] > 4
    assert len(faulty.requests) == 3


def test_connections_that_the_server_has_closed_are_not_used(faulty: Server) -> None:
    def closing(handler: Any, request: dict[str, Any]) -> bool:
        handler.close_connection = True
        return False

    client = Client(faulty.url, "openai:test", "", 5.0, 1)
    faulty.fault, body = closing, {"model": "org/tiny", "prompt": "No dog", "echo": True}
    for _ in range(3):
        client.post("/v1/completions", body, "the answer", threading.Event())
        time.sleep(0.02)
    assert client.spent.requests == 3


def test_a_server_that_is_not_there_is_not_waited_for() -> None:
    with serving("sglang") as server:
        url = server.url
    with pytest.raises(ModelError, match=r"\(Connection refused\); expected"):
        names.load(f"openai:{url}")


ANSWERS: dict[str, tuple[dict[str, Any], str]] = {
    "no choices": ({"usage": USAGE}, "the choices null"),
    "lengths": ({"choices": [{"logprobs": ECHO | {"tokens": ["a"]}}]}, "3 log-probabilities of 1 tokens"),
    "no numbers": ({"choices": [{"logprobs": ECHO | {"token_logprobs": None}}]}, "no log-probabilities"),
    "positive": (
        {"choices": [{"logprobs": ECHO | {"token_logprobs": [None, 0.5, -1]}}]},
        "token 1: the log-prob.* 0.5",
    ),
    "infinite": ({"choices": [{"logprobs": ECHO | {"token_logprobs": [None, -math.inf, -1]}}]}, "token 1"),
    "zero": ({"choices": [{"logprobs": ECHO | {"token_logprobs": [None, -9999.0, -1]}}]}, "a probability of 0"),
    "null": ({"choices": [{"logprobs": ECHO | {"token_logprobs": [None, None, -1]}}]}, "token 1: .*null"),
    "numbers": ({"choices": [{"logprobs": ECHO | {"tokens": [1, 2, 3]}}]}, "token 0: 1"),
    "usage": ({"choices": [{"logprobs": ECHO}]}, "the usage null"),
    "count": ({"choices": [{"logprobs": ECHO}], "usage": USAGE | {"prompt_tokens": -1}}, "prompt_tokens: -1"),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_impossible_numbers_are_refused(name: str) -> None:
    answer, message = ANSWERS[name]
    with pytest.raises(InputError, match=message):
        completion(answer, "answer")


@pytest.mark.parametrize(
    ("text", "pieces", "expected"),
    [
        ("the dog", ["the", " dog"], [(0, 3), (3, 7)]),
        ("the dog", ["the", "dog"], [(0, 3), (4, 7)]),
        ("The dog ", [" The", " dog"], [(0, 3), (3, 7)]),
        ("  a", [" ", "  a"], [(0, 1), (2, 3)]),
        ("é", ["\ufffd", "\ufffd"], [(0, 1), (0, 1)]),
        ("éa", ["", "a"], [(0, 1), (0, 2)]),
        ("雪a", ["", "", "", "a"], [(0, 1), (0, 1), (0, 1), (1, 2)]),
        (
            "naïve 雪 é",
            ["n", "a", "ve", " ", "", "", "", " é"],
            [(0, 1), (1, 3), (2, 5), (5, 6), *3 * [(6, 7)], (7, 9)],
        ),
        ("雪雪", ["", "", "雪", "", "", "雪"], [(0, 0), (0, 0), (0, 1), (1, 1), (1, 1), (1, 2)]),
        ("a \ufffd b", ["a", " \ufffd", " b"], [(0, 1), (1, 3), (3, 5)]),
        ("雪人 é", ["\ufffd", "\ufffd", "\ufffd", " ", "é"], [(0, 2), (0, 2), (0, 2), (2, 3), (3, 4)]),
    ],
)
def test_pieces_are_placed(text: str, pieces: list[str], expected: list[tuple[int, int]]) -> None:
    assert offsets(text, pieces, "text") == expected


def test_tokens_are_placed_by_a_vocabulary() -> None:
    assert servers.byte_offsets("a雪", ["▁a", "<0xE9>", "<0x9B>", "<0xAA>"]) == [(0, 1), (1, 2), (1, 2), (1, 2)]
    assert servers.byte_offsets("naïve", ["n", "aÃ", "¯ve"]) == [(0, 1), (1, 3), (2, 5)]
    assert servers.byte_offsets("naïve", ["n", "aÃ"]) is None


@pytest.mark.parametrize("status", [200, 404])
def test_a_vllm_that_does_not_list_tokens(status: int, faulty: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(faulty.answers, "tokens", lambda _: {"tokens": [1]})
    address = faulty.url if status == 200 else f"{faulty.url}/v1"
    assert not servers.lists_tokens(Client(address, "openai:test", "", 5.0, 1), "org/tiny", "text")


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("the dog", ["the", " cat"]),
        ("the dog", ["the"]),
        ("the dog", ["the", " dog", "s"]),
        ("thedog", ["the", " dog"]),
        ("ab", ["a", "\ufffd", "b"]),
        ("ab", ["a", "b", "\ufffd"]),
        ("éé", ["\ufffd", "é", "\ufffd"]),
        ("éaéa", ["\ufffd", "é"]),
        ("éa", ["a"]),
        ("éïa", ["é", "a"]),
    ],
)
def test_pieces_without_a_place_are_refused(text: str, pieces: list[str]) -> None:
    with pytest.raises(InputError):
        offsets(text, pieces, "text")


@pytest.mark.slow
def test_the_key_is_sent_and_never_shown(faulty: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "sk-very-secret-0123456789"
    monkeypatch.setenv("SERVER_KEY", secret)
    model = names.load(f"openai:{faulty.url}?key=SERVER_KEY")
    assert {headers["Authorization"] for headers in faulty.headers} == {f"Bearer {secret}"}
    assert secret not in json.dumps([model.name, model.record, dict(model.settings)])
    padding = "x" * (client_module.MAX_MESSAGE - 10)
    for body in ({"error": {"message": f"wrong key {secret}"}}, f"{padding}{secret}".encode(), [secret]):
        faulty.fault = answering(200 if isinstance(body, list) else 400, body)
        with pytest.raises(ModelError) as error:
            list(model.score(["a b c"]))
        assert secret[:8] not in str(error.value)
    faulty.fault = answering(302, b"", Location=f"http://elsewhere.example/?{secret}")
    with pytest.raises(ModelError, match=r"elsewhere.example/\?\(the key\)"):
        list(model.score(["a b c"]))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("openai:", "expected openai:http"),
        ("openai:localhost:8000", "expected openai:http"),
        ("openai:ftp://localhost", "expected openai:http"),
        ("openai:http://user:word@localhost/v1", "a name or password in the URL"),
        ("openai:http://localhost:99999/v1", "no URL"),
        ("openai:http://localhost/v1#x", "expected openai:http"),
        ("openai:http://models.example/v1?key=SERVER_KEY", "over http, which anyone"),
        ("openai:http://localhost/v1?key=NO_SUCH_VARIABLE", "NO_SUCH_VARIABLE is not set"),
        ("openai:http://localhost/v1?key=sk-secret", "no name of a variable"),
        ("openai:http://localhost/v1?key=BAD_KEY", "a key with blanks"),
        ("openai:http://localhost/v1?parallel=0", "model option parallel"),
    ],
)
def test_a_bad_name_is_refused(name: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVER_KEY", "abc")
    monkeypatch.setenv("BAD_KEY", "a\nHost: elsewhere")
    with pytest.raises(UsageError, match=message) as error:
        names.load(name)
    assert "sk-secret" not in str(error.value)
    assert "elsewhere" not in str(error.value)


def test_the_models_of_a_server_are_listed(server: Server) -> None:
    with pytest.raises(UsageError, match="no model 'other'; expected one of org/tiny"):
        names.load(f"openai:{server.url}?model=other")


@pytest.mark.slow
def test_a_server_that_dies_in_the_middle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with serving("vllm", "gpt2", "bytes") as server:
        rows = [f"The dog {number} barks .,The dog {number} bark .,suite{number % 4}\n" for number in range(20)]
        Path("pairs.csv").write_text("good,bad,suite\n" + "".join(rows), encoding="utf-8")
        line = ["run", f"openai:{server.url}?tries=2&bos=<|endoftext|>", "--suite", "pairs.csv", "--cache"]
        assert main([*line, "undisturbed.sqlite", "-o", "undisturbed"]) == 0
        undisturbed = len(server.requests)
        server.requests.clear()

        def dies(handler: Any, request: dict[str, Any]) -> bool:
            return len(server.requests) > undisturbed - 5 and dying(handler, request)

        server.fault = dies
        assert main([*line, "cache.sqlite", "-o", "killed"]) == 2
        assert "the same command continues" in capsys.readouterr().err
        server.fault = None
        server.requests.clear()
        assert main([*line, "cache.sqlite", "-o", "killed"]) == 0
        assert len(server.requests) < undisturbed
    undisturbed_bytes, killed = (Path(name, "results.csv").read_bytes() for name in ("undisturbed", "killed"))
    assert undisturbed_bytes == killed


@pytest.mark.slow
def test_conform_checks_a_served_model(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conform", f"openai:{server.url}"]) == 0
    assert "ok    determinism" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("xllamacpp") or not find_spec("gguf"), reason="no llama.cpp here")
def test_numbers_of_llama_cpp(tmp_path: Path) -> None:
    llama_cpp_for_tests.write(tmp_path / "tiny.gguf", *network("llama", "bytes"))
    with llama_cpp_for_tests.serving(tmp_path / "tiny.gguf") as address:
        model = names.load(f"openai:{address}/v1?parallel=2")
        reference = from_transformers(*network("llama", "bytes"), "same", bos="yes")
        assert (model.bos, model.settings) == (reference.bos, {"bos": "yes", "eos": "no"})
        for own, other in zip(model.score(TEXTS), reference.score(TEXTS), strict=True):
            assert own.bits == pytest.approx(other.bits, abs=1e-4)
        assert [f for check in CHECKS if not check.exempt(model) for f in failures(check, model, TEXTS)] == []


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("llama_cpp") or not find_spec("gguf"), reason="no llama-cpp-python here")
def test_numbers_of_llama_cpp_python(tmp_path: Path) -> None:
    for bos in (True, False):
        llama_cpp_for_tests.write(tmp_path / f"{bos}.gguf", *network("llama", "bytes"), bos)
    with llama_cpp_for_tests.serving_python(tmp_path / "True.gguf") as address:
        model = names.load(f"openai:{address}/v1?parallel=2")
        reference = from_transformers(*network("llama", "bytes"), "same", bos="yes")
        for own, other in zip(model.score(TEXTS), reference.score(TEXTS), strict=True):
            assert own.bits[1:] == pytest.approx(other.bits[1:], abs=1e-4)
        assert [f for check in CHECKS if not check.exempt(model) for f in failures(check, model, TEXTS)] == []
    with (
        llama_cpp_for_tests.serving_python(tmp_path / "False.gguf") as address,
        pytest.raises(ModelError, match="bug of llama-cpp-python"),
    ):
        names.load(f"openai:{address}/v1")


def test_errors_are_of_this_package(faulty: Server) -> None:
    for body in ({"data": []}, {"data": [1]}, {"data": {"id": "x"}}):
        with pytest.raises(SyntagmError, match="a list without models"):
            _about_of(body)


def _about_of(body: dict[str, Any]) -> None:
    from syntagm.models.openai.model import _about

    class Answering(Client):
        def get(self, path: str) -> dict[str, Any]:
            return body

    _about(Answering("http://localhost/v1", "openai:test", "", 1.0, 1), "")
