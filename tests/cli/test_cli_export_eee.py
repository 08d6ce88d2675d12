"""Export to Every Eval Ever: what the record and its lines say, what can't be said, and the project's own validator."""

import hashlib
import json
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from toy_runs import agreement, pairs

import syntagm as sg
from syntagm.cli import main
from syntagm.runs import import_results, run_suites

HITS = "mean_token+ties_as_hits"
TEXTS = (("The dog barks", "The dog bark"), ("a b", "a b"), ("The dog bark", "The dog barks"))


def exported(folder: Path, run: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    assert main(["export", str(run), "--as", "every-eval-ever", "-o", str(folder / "x.json")]) == 0
    lines = (folder / "x_samples.jsonl").read_text("utf-8").splitlines()
    return json.loads((folder / "x.json").read_text("utf-8")), [json.loads(line) for line in lines]


def test_the_record_has_the_numbers_of_the_run(tmp_path: Path) -> None:
    run = run_suites(sg.load_model("toy"), [agreement(), pairs("two", *TEXTS)], tmp_path / "run", convention=HITS)
    record, lines = exported(tmp_path, tmp_path / "run")
    assert record["schema_version"] == "0.3.0"
    assert (record["eval_library"]["name"], record["model_info"]["id"]) == ("syntagm", "toy_12-sentences")
    by_name = {each["evaluation_result_id"]: each for each in record["evaluation_results"]}
    assert list(by_name) == ["agreement/verb", "agreement/full_sentence", "two/full_sentence"]
    for estimate in sg.table("scores", run, measure="each").to_frame().iter_rows(named=True):
        found = by_name[f"{estimate['suite']}/{estimate['measure']}"]
        assert found["score_details"]["score"] == estimate["score"]
        uncertainty = found["score_details"]["uncertainty"]
        assert uncertainty["num_samples"] == estimate["n"]
        interval = uncertainty["confidence_interval"]
        assert (interval["lower"], interval["upper"]) == (estimate["low"], estimate["high"])
        own = [line for line in lines if line["evaluation_result_id"] == found["evaluation_result_id"]]
        assert sum(line["evaluation"]["is_correct"] for line in own) == pytest.approx(estimate["score"] * estimate["n"])
        assert {line["evaluation_id"] for line in own} == {record["evaluation_id"]}
    rules = {name: each["metric_config"]["metric_parameters"] for name, each in by_name.items()}
    assert rules["two/full_sentence"]["convention"] == HITS
    assert rules["two/full_sentence"]["ties_count_as"] == "hits"
    # Regions are compared in bits, whatever the convention.
    assert (rules["agreement/verb"]["convention"], rules["agreement/verb"]["ties_count_as"]) == ("bits", "failures")
    # A record is meant to be published: no path of this machine is in it.
    assert str(tmp_path) not in (tmp_path / "x.json").read_text("utf-8")
    details = record["detailed_evaluation_results"]
    content = (tmp_path / "x_samples.jsonl").read_bytes()
    assert (details["total_rows"], details["file_path"]) == (len(lines), "x_samples.jsonl")
    assert details["checksum"] == hashlib.sha256(content).hexdigest()


def test_the_lines_have_the_preferred_sentence(tmp_path: Path) -> None:
    run_suites(sg.load_model("toy"), [pairs("two", *TEXTS)], tmp_path / "run")
    _, lines = exported(tmp_path, tmp_path / "run")
    assert [line["input"]["choices"] for line in lines] == [list(texts) for texts in TEXTS]
    assert [line["input"]["reference"] for line in lines] == [[good] for good, _ in TEXTS]
    answers = [line["output"]["raw"] for line in lines]
    assert answers == [["The dog barks"], [""], ["The dog barks"]]
    assert [line["evaluation"]["is_correct"] for line in lines] == [True, False, False]
    assert [line["answer_attribution"][0]["extracted_value"] for line in lines] == [own for [own] in answers]
    assert all(isinstance(value, str) for line in lines for value in line["metadata"].values())
    expected = hashlib.sha256(b'{"raw":"","reference":["The dog barks"]}').hexdigest()
    assert lines[0]["sample_hash"] == expected


def test_results_of_another_tool_are_its_own(tmp_path: Path) -> None:
    scores = tmp_path / "two.csv"
    scores.write_text("good,bad,score_good,score_bad,reported\na b,a c,-2,-2,1\nd e,d f,-3,-1,0\n")
    import_results("minicons", [scores], tmp_path / "run", "m")
    record, lines = exported(tmp_path, tmp_path / "run")
    assert (record["eval_library"]["name"], record["eval_library"]["version"]) == ("minicons", "unknown")
    counts = Counter((line["evaluation_name"], line["evaluation"]["is_correct"]) for line in lines)
    assert counts == {
        ("two.full_sentence", False): 2, ("two.as_reported", True): 1, ("two.as_reported", False): 1,
    }  # fmt: skip
    assert {line["answer_attribution"][0]["extraction_method"] for line in lines} == {
        "(*;%good%) < (*;%bad%)", "as minicons reports it",
    }  # fmt: skip


@pytest.mark.slow
def test_what_can_not_be_exported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sg.fill(sg.load_model("toy"), [agreement()], "verbs", tmp_path / "fill", limit=2)
    run_suites(sg.load_model("toy"), [pairs("two", *TEXTS)], tmp_path / "run")
    export = ["export", str(tmp_path / "run"), "--as", "every-eval-ever", "-o"]
    assert main(["export", str(tmp_path / "fill"), "--as", "every-eval-ever", "-o", str(tmp_path / "y.json")]) == 2
    assert "no verdicts" in capsys.readouterr().err
    for output in ("-", str(tmp_path / "x.jsonl")):
        assert main([*export, output]) == 2
        assert "ends in .json" in capsys.readouterr().err
    (tmp_path / "z_samples.jsonl").write_text("mine\n")
    assert main([*export, str(tmp_path / "z.json")]) != 0
    assert (tmp_path / "z_samples.jsonl").read_text() == "mine\n"
    (tmp_path / "other.json").write_text("{}")
    assert main([*export, str(tmp_path / "other.json")]) != 0
    assert (tmp_path / "other.json").read_text() == "{}"
    # An earlier export is replaced.
    assert main([*export, str(tmp_path / "x.json")]) == 0
    assert main([*export, str(tmp_path / "x.json")]) == 0


@pytest.mark.skipif(not shutil.which("every_eval_ever"), reason="their package needs Python 3.12 and is not installed")
def test_their_validator_accepts_it(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "syntagm" / "org" / "toy"
    folder.mkdir(parents=True)
    run_suites(sg.load_model("toy"), [agreement(), pairs("two", *TEXTS)], tmp_path / "run")
    stem = folder / "3f2b0a52-0000-4000-8000-000000000001"
    assert main(["export", str(tmp_path / "run"), "--as", "every-eval-ever", "-o", f"{stem}.json"]) == 0
    files = [str(path.relative_to(tmp_path)) for path in folder.iterdir()]
    done = subprocess.run(
        ["every_eval_ever", "validate", "--format", "json", *files],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert [report["valid"] for report in json.loads(done.stdout)] == [True, True]
