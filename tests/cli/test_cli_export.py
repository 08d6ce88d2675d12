import csv
import hashlib
import io
import json
import math
import os

import pytest
from toy_runs import FULL, agreement, interrupt, pairs, toy_run

from syntagm.cli import main
from syntagm.models import load
from syntagm.runs import open_run, run_suites as run
from syntagm.suites import Item, Prediction, Sentence, Suite, parse

ODD = (
    "the\u2028dog",
    'the "dog", barks',
    "=the dog",
    "-",
    "  the dog  barks ",
    "die 😀 bellt",
    "the\x0cdog\x85",
    "the\ndog\r\nbarks",
)
PAIRS = (("the dog barks", "the dog bark"), ("the cat bark", "the cat barks"), ("a dog", "a dog"))
BLIMP = {"UID": "agreement_1", "linguistics_term": "agreement", "field": "syntax"}


def export(folder, kind, output):
    return main(["export", str(folder), "--as", kind, "-o", str(output)])


def table(path):
    return list(csv.DictReader(io.StringIO(path.read_bytes().decode("utf-8"), newline="")))


@pytest.mark.parametrize(
    ("kind", "header", "first"),
    [
        # -log2 of (8 + 1) / (12 + 24), as the toy model's module says.
        ("tokens", "model,suite,item,condition,index,start,token,bits,known", "toy:12-sentences,agreement,1,good,0,0,The,2,1"),
        # 2 + 2.963...: -log2 of 9 / 36 and 5 / 39.
        (
            "regions",
            "model,suite,item,condition,region,content,bits",
            "toy:12-sentences,agreement,1,good,1,The dog,4.963474123974886",
        ),
        (
            "words",
            "model,suite,item,condition,region,index,word,bits,known",
            "toy:12-sentences,agreement,1,good,1,0,The,2,1",
        ),
        # log2(3 / 1).
        ("results", "model,suite,item,measure,value,margin", "toy:12-sentences,agreement,1,verb,1,1.584962500721156"),
    ],
)  # fmt: skip
def test_columns_and_first_row(tmp_path, capsys, kind, header, first):
    toy_run(tmp_path / "run", agreement(), agreement("again"))
    assert export(tmp_path / "run", kind, tmp_path / "out.csv") == 0
    lines = (tmp_path / "out.csv").read_bytes().decode("utf-8").split("\n")
    assert lines[:2] == [header, first]
    assert lines[-1] == ""
    # 3 items x 2 conditions x 3 tokens or 2 regions, or 3 items x 2 measures, in each of two suites.
    assert len(lines) - 2 == 2 * {"tokens": 18, "words": 18, "regions": 12, "results": 6}[kind]
    assert capsys.readouterr().err == ""
    assert export(tmp_path / "run", kind, "-") == 0
    assert capsys.readouterr().out == "\n".join(lines)


def test_results_are_those_of_the_run_directory(tmp_path):
    toy_run(tmp_path / "run", agreement(), pairs("p", *PAIRS))
    export(tmp_path / "run", "results", tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "run" / "results.csv").read_bytes()


@pytest.mark.parametrize("model", ["toy", "toy?eos=yes"])
def test_tokens_joined_are_the_text_whatever_it_holds(tmp_path, model):
    suite = pairs("odd", *((text, "the dog bark") for text in ODD))
    toy_run(tmp_path / "run", suite, model=model)
    export(tmp_path / "run", "tokens", tmp_path / "tokens.csv")
    found = {}
    for row in table(tmp_path / "tokens.csv"):
        text = found.setdefault((row["item"], row["condition"]), "")
        assert int(row["start"]) == len(text)
        found[row["item"], row["condition"]] = text + row["token"]
    expected = {(item.id, name): one.text for item in suite.items for name, one in item.sentences.items()}
    assert found == expected


@pytest.mark.parametrize("model", ["toy", "toy?eos=yes"])
def test_exported_tokens_are_a_model_with_the_same_results(tmp_path, model):
    suites = (agreement(), pairs("odd", *((text, "the dog bark") for text in ODD)))
    first = toy_run(tmp_path / "run", *suites, model=model)
    export(tmp_path / "run", "tokens", tmp_path / "tokens.csv")
    again = run(load(f"recorded:{tmp_path / 'tokens.csv'}"), suites, tmp_path / "again")
    assert again.results().drop("model").equals(first.results().drop("model"))
    for suite in suites:
        assert again.tokens(suite.name).drop("model").equals(first.tokens(suite.name).drop("model"))


def test_unscored_first_tokens_are_nan_and_come_back(tmp_path):
    (tmp_path / "in.csv").write_text('index,start,token,bits\n0,0,a,nan\n1,1," dog",2.5\n0,0,a,nan\n1,1," cat",0.1\n')
    suite = Suite("s", (Item("1", {"good": Sentence("a cat"), "bad": Sentence("a dog")}),), (FULL,))
    run(load(f"recorded:{tmp_path / 'in.csv'}?bos=no"), [suite], tmp_path / "run")
    export(tmp_path / "run", "tokens", tmp_path / "out.csv")
    assert [row["bits"] for row in table(tmp_path / "out.csv")] == ["nan", "0.1", "nan", "2.5"]
    again = run(load(f"recorded:{tmp_path / 'out.csv'}?bos=no"), [suite], tmp_path / "again")
    assert again.results()["margin"].to_list() == [2.5 - 0.1]


def test_lm_eval_results(tmp_path, capsys):
    toy_run(tmp_path / "run", pairs("agreement_1", *PAIRS, tags=BLIMP))
    assert export(tmp_path / "run", "lm-eval", tmp_path / "out.json") == 0
    found = json.loads((tmp_path / "out.json").read_bytes())
    # Values 1, 1, and 0 for the tie: mean 2/3, deviation sqrt((1/9 + 1/9 + 4/9) / 2) = 0.577, over the root of 3 = 1/3.
    assert found["results"]["blimp_agreement_1"] == {
        "alias": "blimp_agreement_1",
        "acc,none": pytest.approx(2 / 3),
        "acc_stderr,none": pytest.approx(1 / 3),
    }
    assert found["n-samples"] == {"blimp_agreement_1": {"original": 3, "effective": 3}}
    assert found["n-shot"] == {"blimp_agreement_1": 0}
    assert found["higher_is_better"] == {"blimp_agreement_1": {"acc": True}}
    assert found["versions"] == {"blimp_agreement_1": open_run(tmp_path / "run").suites[0].hash}
    assert found["model_name"] == found["config"]["model_args"] == "toy:12-sentences"
    assert found["git_hash"] is None
    assert "a tie is not correct" in found["config"]["note"]
    printed = capsys.readouterr()
    assert printed.err == ""
    assert printed.out.splitlines()[-1].startswith("ties: 1, which are not correct here and are correct in lm-eval")


def test_lm_eval_leaves_the_names_of_blimp_to_its_items(tmp_path):
    toy_run(tmp_path / "run", pairs("agreement_1", *PAIRS, tags=BLIMP | {"author": "Someone"}))
    export(tmp_path / "run", "lm-eval", tmp_path / "out.json")
    assert list(json.loads((tmp_path / "out.json").read_bytes())["results"]) == ["agreement_1"]


def test_kinds_are_listed_with_a_space_after_each_name(capsys):
    with pytest.raises(SystemExit):
        main(["export", "--list"])
    assert "every-eval-ever  Export of verdicts" in capsys.readouterr().out


def test_lm_eval_samples(tmp_path):
    toy_run(tmp_path / "run", pairs("agreement_1", *PAIRS, tags=BLIMP))
    export(tmp_path / "run", "lm-eval", tmp_path / "out.json")
    [path] = tmp_path.glob("samples_blimp_agreement_1_*.jsonl")
    first, second, tie = (json.loads(line) for line in path.read_bytes().splitlines())
    assert first["doc"] == {
        "sentence_good": "the dog barks",
        "sentence_bad": "the dog bark",
        **BLIMP,
        "row": "0",
        "pairID": "agreement_1-0",
    }
    assert first["arguments"]["gen_args_1"] == {"arg_0": "", "arg_1": "the dog bark"}
    # p(the) p(dog | the) p(barks | dog) = 9/36 * 5/39 * 3/29, and 1/29 for bark: natural logarithms.
    good, bad = (float(answer[0]) for answer in first["filtered_resps"])
    assert good == pytest.approx(math.log(9 / 36 * 5 / 39 * 3 / 29))
    assert bad == pytest.approx(math.log(9 / 36 * 5 / 39 * 1 / 29))
    assert first["resps"] == [[answer] for answer in first["filtered_resps"]]
    assert [one["acc"] for one in (first, second, tie)] == [1.0, 1.0, 0.0]
    assert [one["doc_id"] for one in (first, second, tie)] == [0, 1, 2]
    hashes = "".join(one[key] for one in (first, second, tie) for key in ("doc_hash", "prompt_hash", "target_hash"))
    found = json.loads((tmp_path / "out.json").read_bytes())
    assert found["task_hashes"]["blimp_agreement_1"] == hashlib.sha256(hashes.encode()).hexdigest()


def test_lm_eval_leaves_undefined_items_out_and_counts_them(tmp_path):
    rows = ((word, f"index,start,token,bits\n0,0,{word},{bits}\n") for word, bits in (("a", 1), ("b", 2), ("c", "nan")))
    lines = "".join(text if k == 0 else text.partition("\n")[2] for k, (_, text) in enumerate(rows))
    (tmp_path / "in.csv").write_text(lines)
    run(load(f"recorded:{tmp_path / 'in.csv'}"), [pairs("s", ("a", "b"), ("a", "c"))], tmp_path / "run")
    export(tmp_path / "run", "lm-eval", tmp_path / "out.json")
    found = json.loads((tmp_path / "out.json").read_bytes())
    # One item is left, which has no standard error.
    assert found["results"]["s"] == {"alias": "s", "acc,none": 1.0, "acc_stderr,none": "N/A"}
    assert found["n-samples"]["s"] == {"original": 2, "effective": 1}
    [path] = tmp_path.glob("samples_s_*.jsonl")
    assert [json.loads(line)["acc"] for line in path.read_bytes().splitlines()] == [1.0, None]


def test_lm_eval_names_what_it_can_t_express(tmp_path, capsys):
    good = pairs("good", *PAIRS)
    same = pairs("blimp_x", *PAIRS)
    published = pairs("x", *PAIRS, tags=BLIMP | {"UID": "x"})
    mean = Suite("mean", good.items, good.predictions, {}, "mean")
    three = Suite("three", tuple(Item(i.id, {**i.sentences, "third": Sentence("x")}) for i in good.items), (FULL,))
    other = Suite("other", good.items, (Prediction("full_sentence", parse("(*;%bad%) < (*;%good%)")),))
    none = Suite("none", good.items, (Prediction("0", FULL.formula),))
    ragged = Suite("ragged", (*same.items, *three.items), (FULL,))
    toy_run(tmp_path / "run", good, published, same, mean, three, other, none, ragged)
    assert export(tmp_path / "run", "lm-eval", tmp_path / "out.json") == 1
    messages = capsys.readouterr().err.splitlines()
    assert [line.partition(" is skipped: ")[0] for line in messages] == [
        f"syntagm: suite {name}" for name in ("blimp_x", "mean", "three", "other", "none", "ragged")
    ]
    assert list(json.loads((tmp_path / "out.json").read_bytes())["results"]) == ["good", "blimp_x"]


def test_lm_eval_refuses_where_nothing_is_left(tmp_path, capsys):
    toy_run(tmp_path / "run", Suite("none", pairs("x", *PAIRS).items, (Prediction("0", FULL.formula),)))
    assert export(tmp_path / "run", "lm-eval", tmp_path / "out.json") == 2
    assert "no suite that lm-eval can express" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run"]


def test_an_unfinished_run_falls_short(tmp_path, capsys):
    toy_run(tmp_path / "run", agreement(), agreement("again"))
    interrupt(tmp_path / "run", 1)
    assert export(tmp_path / "run", "results", tmp_path / "out.csv") == 1
    assert "is not finished" in capsys.readouterr().err
    assert {row["suite"] for row in table(tmp_path / "out.csv")} == {"agreement"}


@pytest.mark.parametrize(
    ("output", "message"),
    [("/proc/out.csv", "can't be written"), (".", "is a folder"), ("run", "is a folder")],
)
def test_what_can_t_be_written_is_refused(tmp_path, capsys, monkeypatch, output, message):
    monkeypatch.chdir(tmp_path)
    toy_run(tmp_path / "run", agreement())
    assert export("run", "results", output) == 2
    assert message in capsys.readouterr().err
    assert os.listdir(tmp_path) == ["run"]


def test_a_damaged_shard_leaves_no_file_and_the_old_one_in_place(tmp_path, capsys):
    found = toy_run(tmp_path / "run", agreement(), agreement("again"))
    (tmp_path / "out.csv").write_text("old")
    (tmp_path / "run" / "shards" / f"{found.suites[1].shards[0]}.results.parquet").write_bytes(b"x")
    assert export(tmp_path / "run", "results", tmp_path / "out.csv") == 2
    assert "damaged" in capsys.readouterr().err
    assert (tmp_path / "out.csv").read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["out.csv", "run"]


def test_lm_eval_on_the_standard_output_is_refused(tmp_path, capsys):
    toy_run(tmp_path / "run", pairs("p", *PAIRS))
    assert export(tmp_path / "run", "lm-eval", "-") == 2
    assert "one more file per task" in capsys.readouterr().err
