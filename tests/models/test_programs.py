"""Models that are programs: the conversation, its faults, restarts, and the permission to start them."""

import gc
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from syntagm.cli import main
from syntagm.core import ModelError, SyntagmError, UsageError
from syntagm.models import CHECKS, TEXTS, Gap, LanguageModel, failures, names
from syntagm.models.program import model as process

# Each character costs a bit; words are tokens.
PROGRAM = r"""
import json, os, re, sys, time
ABOUT = {"name": "m", "fingerprint": "1", "sees": "left", "exact": True, "bos": "<s>", "eos": None}

def hello(request):
    return ABOUT

def answer(text):
    tokens = re.findall(r"\s*\S+", text)
    return {"starts": [sum(map(len, tokens[:i])) for i in range(len(tokens))], "bits": [len(t) + 0.0 for t in tokens]}

def score(request):
    return {"answers": [answer(text) for text in request["texts"]]}

def fill(request):
    return {"answers": [{"bits": [len(w) + 1.0 for w in gap["words"]]} for gap in request["gaps"]]}

CHANGE
for line in sys.stdin:
    request = json.loads(line)
    reply = globals()[request["do"]](request)
    reply = reply if isinstance(reply, str) else json.dumps({"id": request["id"], **reply})
    print(reply, flush=True)
"""


def written(folder: Path, change: str = "", more: str = "") -> str:
    """Write a program with a change, and return the name of its model."""
    (folder / "model.py").write_text(PROGRAM.replace("CHANGE", change), encoding="utf-8")
    command = json.dumps([sys.executable, "-SE", "model.py"])
    (folder / "model.toml").write_text(f"command = {command}\n{more}", encoding="utf-8")
    return f"exec:{folder / 'model.toml'}"


def load(folder: Path, change: str = "", more: str = "") -> LanguageModel:
    return names.load(written(folder, change, more), allow_exec=True)


def about(**changed: object) -> str:
    return f"ABOUT = ABOUT | {changed!r}"


def answers(*answer: str) -> str:
    return f"def score(request): return {{'answers': [{', '.join(answer)}]}}"


def test_it_is_asked_in_batches_and_answers_in_order(tmp_path: Path) -> None:
    seen = "def hello(request):\n    return ABOUT | {'settings': {'n': str(request['options']['n'])}}"
    model = load(tmp_path, seen, "batch = 2\n[options]\nn = 7\n")
    told: list[int] = []
    assert [answer.bits.tolist() for answer in model.score(["a bc", "", "def"], told.append)] == [[1, 3], [], [3]]
    assert told == [2, 1]
    assert dict(model.settings) == {"bos": "yes", "eos": "no", "n": "7"}
    assert model.name == f"exec:m@{model.fingerprint[:8]}"
    assert [check.name for check in CHECKS if not check.exempt(model) and failures(check, model, TEXTS)] == []


def test_characters_are_not_changed_on_the_way(tmp_path: Path) -> None:
    model = load(
        tmp_path, "def answer(text):\n    return {'starts': list(range(len(text))), 'bits': [1.0] * len(text)}"
    )
    for text in ["\0", "\U0001f468‍\U0001f469\ud7ff\ue000", 'a"\\b', "line\nline\r\u2028\x85end"]:
        [answer] = model.score([text])
        assert len(answer.bits) == len(text)


def test_undefined_bits_and_unknown_words(tmp_path: Path) -> None:
    [answer] = load(tmp_path, answers("{'starts': [0, 1], 'bits': [2, None], 'known': [False, True]}")).score(["a b"])
    assert str(answer.bits.tolist()) == "[2.0, nan]"
    assert answer.in_vocabulary.tolist() == [False, True]
    [bare] = load(tmp_path, about(bos=None) + "\n" + answers("{'starts': [0], 'bits': [None]}")).score(["a"])
    assert str(bare.bits.tolist()) == "[nan]"


@pytest.mark.parametrize(
    ("stated", "bits"),
    [
        ({"exact": False}, [3.0, -1.0]),
        ({"settings": {"boundary": "word"}}, [3.0, -1.0]),
        ({}, [3.0, -0.0001]),
        ({"numerical_error": 0.01}, [3.0, -0.01]),
        ({}, [3.0, -0.0]),
    ],
)
def test_negative_bits_of_bounds_of_corrected_words_and_of_rounding(
    stated: dict[str, Any], bits: list[float], tmp_path: Path
) -> None:
    model = load(tmp_path, about(**stated) + "\n" + answers(f"{{'starts': [0, 3], 'bits': {bits}}}"))
    assert [str(answer.bits.tolist()) for answer in model.score(["The dog"])] == [str([3.0, bits[1] + 0.0])]
    assert model.numerical_error == stated.get("numerical_error", 0.0)


def test_gaps(tmp_path: Path) -> None:
    model = load(tmp_path, about(can=["score", "fill"], words=["the", "dog"]))
    [fill] = model.fill([Gap("The ", "", ("dog", "doors"))])
    assert fill.bits.tolist() == [4.0, 6.0]
    assert model.single(["dog", "doors"]).tolist() == [True, False]
    assert failures(next(check for check in CHECKS if check.name == "agreement"), model, TEXTS) == []
    # Only of listed and known words, each once, can one alone follow; a word that is glued to the gap is another one.
    sums = (
        about(can=["score", "fill"], words=["dog", "cat"])
        + "\ndef fill(request): return {'answers': [{'bits': [0, 0, 0, 0],"
    )
    model = load(tmp_path, f"{sums} 'known': [True, False, True, True]}}]}}")
    assert len(list(model.fill([Gap("The ", "", ("dog", "cat", "dogs", "dog"))]))) == 1
    assert len(list(load(tmp_path, f"{sums}}}]}}").fill([Gap("un", "", ("dog", "cat", "a", "b"))]))) == 1
    # A program is not asked to list entries, nor told of them.
    strict = "\ndef fill(request): return {'answers': [{'bits': [len(gap)] * 2} for gap in request['gaps']]}"
    model = load(tmp_path, about(can=["score", "fill"]) + strict)
    assert next(model.fill([Gap("The ", "", ("dog", "cat"))])).bits.tolist() == [3.0, 3.0]
    with pytest.raises(ModelError, match="can't list the most probable entries"):
        list(model.fill([Gap("The ", "", ("dog", "cat"), 2)]))
    without = load(tmp_path)
    with pytest.raises(ModelError, match="can't fill gaps"):
        list(without.fill([Gap("The ", "", ("dog",))]))
    with pytest.raises(ModelError, match="can't fill gaps"):
        without.single(["dog"])


STARTS = [
    ("print('Loading ...', flush=True)", "answer, line 1, column 1, 'Loading ...': not valid JSON"),
    ("sys.stdout.buffer.write(b'\\xff\\n'); sys.stdout.flush()", "an answer that is not UTF-8"),
    ("print('[1]', flush=True)", "the answer '[1]'; expected a JSON object on a line"),
    ("print('[' * 100, flush=True)", "brackets nested more than 64 deep"),
    ("print('{}', flush=True)", "an answer with the id None to the request about hello; expected the id 1"),
    ("print('{\"id\": true}', flush=True)", "an answer with the id True"),
    ("print('{\"id\": 1, \"id\": 1}', flush=True)", "the key \"id\" twice"),
    ("print('{\"id\": 1, \"x\": 1e999}', flush=True)", "the number 1e999; expected a finite number"),
    ("print('{\"id\": 1' + '0' * 5000 + '}', flush=True)", "an integer of 5001 digits"),
    ("sys.exit(3)", r"the program ended (exit status 3); expected an answer to hello"),
    ("raise KeyError('weights')", "the program ended (exit status 1; its last message: KeyError: 'weights')"),
    ("os.kill(os.getpid(), 11)", "the program ended (signal 11)"),
    ("while True: sys.stdout.write('x' * 5000)", "a line of more than 10,000 bytes"),
    ("while True: sys.stdout.write('{}\\n')", "an answer with the id None"),
    ("def hello(request): return {'error': 'no\\nweights'}", "the program reports: no weights; expected an answer to hello"),
    ("del ABOUT['bos']", "answer to hello: no 'bos'; expected the key 'bos'"),
    (about(vocabulary=3), "answer to hello: the unknown key \"vocabulary\"; expected one of name, fingerprint, sees"),
    (about(numerical_error=-0.1), "answer to hello, numerical_error: -0.1; expected bits per text, from 0 to 1"),
    (about(numerical_error=7), "answer to hello, numerical_error: 7; expected bits per text"),
    (about(numerical_error=True), "answer to hello, numerical_error: true; expected a number"),
    (about(sees="right"), "answer to hello, sees: \"right\"; expected one of both, left, left and length"),
    (about(exact="yes"), "answer to hello, exact: \"yes\"; expected true or false"),
    (about(name="a b"), "answer to hello, name: \"a b\"; expected 1 to 100 letters"),
    (about(name="m?bos=no"), "answer to hello, name: \"m?bos=no\"; expected"),
    (about(fingerprint=""), "answer to hello, fingerprint: \"\"; expected printable characters, at least one"),
    (about(bos="\x1b[2J"), "answer to hello, bos: "),
    (about(can=["fill"]), "answer to hello, can: no score; expected score, and possibly fill"),
    (about(can=["score", "fly"]), "answer to hello, can, 2: \"fly\"; expected one of fill, score"),
    (about(words=["a", "a"]), "answer to hello, words: 2 words, 1 of them different"),
    (about(words=["a b"]), "answer to hello, words: \"a b\"; expected words without blanks"),
    (about(settings={"bos": "no"}), "answer to hello, settings: \"bos\": \"no\"; expected a name other than bos and eos"),
    (about(settings={"beam": 100}), "answer to hello, settings, beam: 100; expected a string"),
    (about(settings={"beam": "1|2"}), "answer to hello, settings: \"beam\": \"1|2\"; expected"),
]  # fmt: skip
ANSWERS = [
    (answers(), "answer, answers: 0; expected 1: one for each"),
    (answers("answer('a')", "answer('a')"), "answer, answers: 2; expected 1: one for each"),
    ("def score(request): return {'answer': []}", "answer: the unknown key \"answer\"; expected one of answers"),
    (answers("{'starts': [0], 'bits': [float('nan')]}"), "NaN; expected a number"),
    (answers("{'starts': [0], 'bits': [-float('inf')]}"), "-Infinity; expected a number"),
    (answers("{'starts': [0, 3], 'bits': [1]}"), "answer 1 of 1, to 'The dog', bits: 1; expected 2: one for each"),
    (answers("{'starts': [0], 'bits': [1], 'known': []}"), "answer 1 of 1, to 'The dog', known: 0; expected 1"),
    (answers("{'starts': [0], 'bits': ['1']}"), "answer, answers, 1, bits, 1: \"1\"; expected a number or null"),
    (answers("{'starts': [0], 'bits': [True]}"), "answer, answers, 1, bits, 1: true; expected a number or null"),
    (answers("{'starts': [0.0], 'bits': [1]}"), "answer, answers, 1, starts, 1: 0.0; expected an integer"),
    (answers("{'starts': [0], 'bits': [1], 'known': [1]}"), "answer, answers, 1, known, 1: 1; expected true or false"),
    (answers("{'starts': [0], 'bit': [1]}"), "answer, answers, 1: the unknown key \"bit\""),
    (answers("{'starts': [0]}"), "answer, answers, 1: no 'bits'"),
    (answers("{'starts': [0, 10 ** 12], 'bits': [1, 1]}"), "starts from 0 to 1000000000000; expected 0 to 7"),
    (answers("{'starts': [-1], 'bits': [1]}"), "starts from -1 to -1; expected 0 to 7, counted in Unicode code points"),
    (answers("{'starts': [], 'bits': []}"), "no tokens; expected at least one"),
    (answers("{'starts': [0, 4], 'bits': [1, 1]}"), "token 1 begins at 4, after white space; expected 3"),
    (answers("{'starts': [0], 'bits': [-3.5]}"), "-3.5 bits of token 0, 'The dog'; expected at least 0: bits are -log2 of a "),
    (answers("{'starts': [0, 3], 'bits': [3, -1]}"), "answer 1 of 1, to 'The dog': -1 bits of token 1, ' dog'; expected at"),
    (answers("{'starts': [0, 3], 'bits': [-0.001, 3]}"), "-0.001 bits of token 0, 'The'"),
    (about(exact=False) + "\n" + answers("{'starts': [0, 3], 'bits': [3, -4]}"), "-1 bits in all; expected at least 0"),
    (about(exact=False) + "\n" + answers("{'starts': [0, 3], 'bits': [-1, 3]}"), "-1 bits up to token 0, 'The'"),
    (answers("{'starts': [0, 3], 'bits': [1e308, 1e308]}"), "inf bits in all; expected a finite number"),
    (about(bos=None), "3 bits of the first token; expected null, since nothing precedes it (bos is null)"),
    (about(eos="</s>"), "no token at the end of the text; expected the end-of-text symbol at 7"),
    ("def score(request): return {'error': 'too long'}", "the program reports: too long; expected an answer to 1 text"),
    ("def score(request): return '{\"id\": 1, \"answers\": []}'", "an answer with the id 1 to the request about 1 text, the"),
    ("def hello(request): return json.dumps({'id': 1, **ABOUT}) + '\\n{\"id\": 1}'", "an answer with the id 1 to the request"),
    ("def score(request): sys.exit(4)", "the program ended (exit status 4) twice when asked about 'The dog'"),
    ("def score(request): os.close(1); time.sleep(60)", "the program ended (its output) twice"),
]  # fmt: skip


def mostly_slow(cases: Sequence[tuple[str, str]]) -> list[Any]:
    """Leave one case in eight to the fast tests, because each starts a program."""
    return [
        case if number % 8 == 0 else pytest.param(*case, marks=pytest.mark.slow) for number, case in enumerate(cases)
    ]


@pytest.mark.parametrize(("change", "said"), mostly_slow(STARTS), ids=lambda text: text[-30:])
def test_a_program_that_does_not_introduce_itself(
    change: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "MAX_ANSWER", 10_000)
    with pytest.raises(ModelError) as error:
        load(tmp_path, change)
    refused(error.value, said)


@pytest.mark.parametrize(("change", "said"), mostly_slow(ANSWERS), ids=lambda text: text[-30:])
def test_an_answer_that_can_not_be_used(
    change: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_GRACE", 0.2)
    model = load(tmp_path, change)
    with pytest.raises(ModelError) as error:
        list(model.score(["The dog"]))
    refused(error.value, said)
    assert not model._process.running  # type: ignore[attr-defined]


def refused(error: SyntagmError, said: str) -> None:
    message = str(error)
    assert "model.toml: " in message
    assert said in message
    assert all(character.isprintable() for character in message)
    assert len(message) < 500


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (about(can=["score", "fill"]) + "\ndef fill(request): return {'answers': [{'bits': [1]}]}",
         "answer 1 of 1, to the gap after 'The ', bits: 1; expected 2"),
        (about(can=["score", "fill"]) + "\ndef fill(request): return {'answers': [{'bits': [1, -2]}]}", "-2 bits"),
        (about(can=["score", "fill"], words=["dog", "cat"]) + "\ndef fill(request): return {'answers': [{'bits': [0.5, 1.5]}]}",
         "the probability 1.06066 of its different known words together; expected at most 1: only one of them can follow"),
        (about(can=["score", "fill"]) + "\ndef fill(request): return {'answers': [{'bits': [1, 2], 'above': [0, 1.5],"
         " 'below': [0, 0]}]}", "above and below that are no parts of 1"),
        (about(can=["score", "fill"]) + "\ndef fill(request): return {'answers': [{'bits': [1, 2], 'above': [0, None]}]}",
         "above and below that are no parts of 1"),
    ],
)  # fmt: skip
def test_a_gap_that_is_not_filled(change: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError) as error:
        list(load(tmp_path, change).fill([Gap("The ", "", ("dog", "cat"))]))
    refused(error.value, said)


@pytest.mark.parametrize(
    "change",
    ["def score(request): time.sleep(60)", "def score(request): os.close(0); time.sleep(60)"],
)
def test_a_program_that_hangs_is_killed(change: str, tmp_path: Path) -> None:
    model = load(tmp_path, change)
    model._process._seconds = 0.2  # type: ignore[attr-defined]
    child = model._process._child  # type: ignore[attr-defined]
    with pytest.raises(ModelError) as error:
        list(model.score(["The dog"]))
    refused(
        error.value, "no answer within 0.2 seconds; expected an answer to 1 text, the first 'The dog'. If the program"
    )
    assert child.returncode == -9


def test_a_program_that_does_not_read_can_not_block(tmp_path: Path) -> None:
    change = "reply = {'id': 1, **ABOUT}\nsys.stdin.readline()\nprint(json.dumps(reply), flush=True)\ntime.sleep(60)"
    model = load(tmp_path, change)
    model._process._seconds = 0.2  # type: ignore[attr-defined]
    with pytest.raises(ModelError, match=r"no answer within 0\.2 seconds"):
        list(model.score(["long " * 100_000]))


def test_a_program_that_crashes_is_started_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Once, then for each text; the text that it can't answer is named."""
    crash = "def answer_or_crash(text, old=answer):\n    if text == 'bad': print('oh', file=sys.stderr); os._exit(1)\n"
    crash += "    return old(text)\nanswer = answer_or_crash"
    model = load(tmp_path, crash)
    with pytest.raises(
        ModelError, match=r"the program ended \(exit status 1; its last message: oh\) twice when asked about 'bad'"
    ):
        list(model.score(["good", "bad", "fine"]))
    assert (
        "model.toml: the program ended (exit status 1; its last message: oh); it is started again"
        in capsys.readouterr().err
    )
    assert [answer.bits.tolist() for answer in model.score(["good", "fine"])] == [[4], [4]]
    once = "if not os.path.exists('crashed'):\n    def score(request): open('crashed', 'w'); os._exit(1)"
    assert [answer.bits.tolist() for answer in load(tmp_path, once).score(["good", "bad"])] == [[4], [3]]


def test_after_a_restart_it_must_be_the_same_model(tmp_path: Path) -> None:
    change = "ABOUT['fingerprint'] = str(os.getpid())\ndef score(request): os._exit(1)"
    with pytest.raises(
        ModelError, match="after a restart, another answer to hello than before; expected the same answer"
    ):
        list(load(tmp_path, change).score(["a"]))


def test_messages_are_shown_without_what_a_terminal_obeys(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "MAX_MESSAGES", 3)
    change = r"sys.stderr.write('a\x1b]0;b\x07\tc\n' + 'x' * 200_000 + '\n\n' + 'y\n' * 1000); sys.stderr.flush()"
    load(tmp_path, change)
    place = f"exec:{tmp_path / 'model.toml'}: "
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == f"{place}a\ufffd]0;b\ufffd c"
    assert lines[1] == place + "x" * 500
    assert lines[-1] == f"{place}further messages are not shown"
    assert len(lines) == 4


@pytest.mark.slow
def test_the_fingerprint_covers_files_options_and_what_the_program_states(tmp_path: Path) -> None:
    def fingerprint(folder: str, change: str = "", more: str = "") -> str:
        (tmp_path / folder).mkdir(exist_ok=True)
        return load(tmp_path / folder, change, more).fingerprint

    first = fingerprint("one")
    assert first == fingerprint("two", more="seconds = 30\nbatch = 3\n"), "a moved model keeps its name"
    others = [
        fingerprint("one", "# changed"),
        fingerprint("one", about(fingerprint="2")),
        fingerprint("one", more="[options]\nbeam = 3\n"),
        fingerprint("one", about(bos="<start>")),
    ]
    assert len({first, *others}) == 5


@pytest.mark.slow
def test_the_program_ends_with_its_model(tmp_path: Path) -> None:
    model = load(tmp_path)
    pid = model._process._child.pid  # type: ignore[attr-defined]
    os.kill(pid, 0)
    del model
    gc.collect()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_nothing_is_started_without_permission(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = written(tmp_path, "open('started', 'w')")
    (tmp_path / "model.json").write_text('{"family": "exec"}')
    (tmp_path / "class.py").write_text("open('started', 'w')\n")
    python = f"python:{tmp_path / 'class.py'}"
    for model in (name, python):
        with pytest.raises(
            ModelError,
            match=r"a program, which is not started without permission; expected the permission\. Give it if",
        ):
            names.load(model)
    with pytest.raises(ModelError, match="not started without permission"):
        names.load(str(tmp_path))
    for allowed in (False, True):
        with pytest.raises(UsageError, match="the permission 'allow_exec' in a name; expected a name without it"):
            names.load(f"{name}?allow_exec=yes", allow_exec=allowed)
    assert main(["score", name, "The dog"]) == 2
    assert main(["score", f"{name}?allow_exec=yes", "The dog"]) == 2
    assert main(["run", name, "--suite", "hu2020/mvrr", "-o", str(tmp_path / "run")]) == 2
    assert not (tmp_path / "started").exists()
    assert "On the command line: --allow-exec; in Python: allow_exec=True." in capsys.readouterr().err
    assert main(["score", name, "The dog", "--allow-exec"]) == 0
    assert (tmp_path / "started").exists()


@pytest.mark.slow
def test_a_run_names_the_program_and_is_read_without_it(tmp_path: Path) -> None:
    line = [
        "run",
        written(tmp_path),
        "--suite",
        "hu2020/mvrr",
        "--allow-exec",
        "-o",
        str(tmp_path / "run"),
        "--no-cache",
    ]
    assert main(line) == 0
    (tmp_path / "model.py").write_text("import sys; sys.exit('gone')")
    assert main(["table", "scores", str(tmp_path / "run")]) == 0
    model = json.loads((tmp_path / "run" / "run.json").read_text())["model"]
    assert (model["name"], model["start"], model["sees"]) == (f"exec:m@{model['fingerprint'][:8]}", "<s>", "left")


def test_perplexity_of_a_program_that_scores_the_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ends = about(eos="</s>") + "\ndef ended(text, old=answer):\n    found = old(text)\n"
    ends += "    return {'starts': [*found['starts'], len(text)], 'bits': [*found['bits'], 2.0]}\nanswer = ended"
    (tmp_path / "text.txt").write_text("ab cd\n")
    assert main(["perplexity", written(tmp_path, ends), str(tmp_path / "text.txt"), "--allow-exec", "--json"]) == 0
    # "ab", " cd" and the end.
    assert json.loads(capsys.readouterr().out)["bits"] == 2 + 3 + 2
    assert main(["perplexity", written(tmp_path), str(tmp_path / "text.txt"), "--allow-exec"]) == 2
    assert "the end of a sentence is not scored; expected a model that scores it" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", r"command: \[\]; expected a list of texts"),
        ("command = 'awk'", "command: 'awk'; expected a list"),
        ("command = ['awk', 1]", r"command: \['awk', 1\]; expected a list of texts"),
        ("comand = ['awk']", "the unknown key 'comand'; expected one of command, options, seconds, batch"),
        ("command = ['awk']\nseconds = 0", "seconds: 0; expected a number above 0"),
        ("command = ['awk']\nseconds = true", "seconds: true; expected a number above 0"),
        ("command = ['awk']\nbatch = 0", "batch: 0; expected a whole number from 1"),
        ("command = ['awk']\noptions = 1", r"\[options\]: 1; expected a table"),
        ("command = ['/nowhere/program']", "the program '/nowhere/program' can't be started"),
        ("command = [", "invalid TOML"),
    ],
)
def test_a_file_that_starts_no_program(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "model.toml").write_text(text)
    with pytest.raises(ModelError, match=said):
        names.load(f"exec:{tmp_path / 'model.toml'}", allow_exec=True)
    with pytest.raises(ModelError, match="folder"):
        names.load(f"exec:{tmp_path}", allow_exec=True)
    with pytest.raises(ModelError, match=r"exec:node model\.mjs: no such file; expected a TOML file with the command"):
        names.load("exec:node model.mjs", allow_exec=True)


CLASS = """
import sys
from array import array

print("printed")
class Model:
    name, fingerprint, sees, exact, bos, eos = "array", "1", "left", True, "<s>", None
    def score(self, texts):
        print("scoring", texts)
        for text in texts:
            if text == "long":
                raise ValueError("too long")
            if text == "exit":
                sys.exit(5)
            yield {"starts": array("i", [0]), "bits": array("d", [2.5]), "known": [True]}
"""


def python(folder: Path, text: str) -> LanguageModel:
    (folder / "json.py").write_text(text)
    return names.load(f"python:{folder / 'json.py'}", allow_exec=True)


@pytest.mark.slow
def test_a_class_in_a_python_file(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """It may print, give arrays, raise an error, and end its process."""
    model = python(tmp_path, CLASS)
    assert [answer.bits.tolist() for answer in model.score(["a", "b"])] == [[2.5], [2.5]]
    shown = capfd.readouterr()
    assert shown.out == ""
    assert "json.py: printed\n" in shown.err
    assert "json.py: scoring ['a', 'b']\n" in shown.err
    with pytest.raises(ModelError, match="the program reports: ValueError: too long; expected an answer to 2 texts"):
        list(model.score(["a", "long"]))
    with pytest.raises(ModelError, match=r"the program ended \(exit status 5.*\) twice when asked about 'exit'"):
        list(model.score(["a", "exit"]))
    assert [answer.bits.tolist() for answer in model.score(["a"])] == [[2.5]]
    assert model.fingerprint != python(tmp_path, CLASS + "# changed").fingerprint


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", r"exit status 1; its last message: .*json\.py: classes with the method score: none; expected one"),
        (CLASS + "class Other(Model):\n    pass\n", "classes with the method score: Model, Other; expected one"),
        ("import no_such_module_here", "No module named 'no_such_module_here'"),
        (CLASS.replace("eos =", "end ="), "answer to hello: no 'eos'; expected the key 'eos'"),
        (CLASS.replace('"1"', "object()"), "TypeError: a object; expected lists, numbers and texts"),
    ],
)
@pytest.mark.slow
def test_a_python_file_without_a_model(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=said):
        python(tmp_path, text)


def test_no_python_file(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no such file; expected a Python file with a class that has the method score"):
        names.load(f"python:{tmp_path / 'none.py'}", allow_exec=True)
    (tmp_path / "model.txt").write_text(CLASS)
    with pytest.raises(ModelError, match=r"not a Python file; expected a name that ends in \.py"):
        names.load(f"python:{tmp_path / 'model.txt'}", allow_exec=True)
