"""Jobs: what they write, how they end, and that the shell computes the same."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("starlette")

from studio_for_tests import TWO_BY_TWO, Visitor

from syntagm.cli import main
from syntagm.core import NONE, UsageError
from syntagm.studio import Jobs, Limits, jobs as module
from syntagm.studio.work import carry_out_job

TEXT = TWO_BY_TWO + "#prediction\tp\t(verb;%ss%) < (verb;%sp%)\t\t\t\t\t\t\n"


@pytest.mark.slow
def test_a_job_is_scored_and_its_pages_are_those_of_a_run(tmp_path: Path) -> None:
    visitor = Visitor(tmp_path, models=("toy", "random"))
    asked = visitor.post("/write", do="score", name="own", text=TEXT, model="toy", beside="random")
    assert (asked.status, asked.headers["location"]) == (303, "/jobs/0001")
    assert json.loads(visitor.get("/jobs/0001/state").text)["state"] == "waiting"
    assert visitor.get("/jobs/0001/").status == 404
    assert visitor.studio.jobs
    job = visitor.studio.jobs.find("0001")
    assert carry_out_job(job, NONE) == 0
    assert json.loads((job.folder / "progress.json").read_text())["total"] == 8
    assert visitor.studio.jobs.state(job) == "done"
    for path in ("/jobs", "/jobs/0001", "/jobs/0001/", "/jobs/0001/suite/own", "/jobs/0001/suite/own/1"):
        assert visitor.get(path).status == 200, path
    assert "toy, random</bdi>, all items;" in visitor.get("/jobs/0001").text
    page = visitor.get("/jobs/0001/suite/own").text
    assert 'href="/jobs/0001/suite/own/1' in page
    assert 'href="/write"' in page
    assert visitor.get("/jobs/0001/suite/own.csv").text.startswith(
        "suite,item,model,measure,value,margin\nown,1,toy,p,1,1.58"
    )


def test_the_shell_computes_the_same_bytes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    visitor = Visitor(tmp_path / "own")
    visitor.post("/write", do="score", name="own", text=TEXT, model="toy", limit="1")
    visitor.post("/write", do="score", name="own", text=TEXT, model="toy")
    assert visitor.studio.jobs
    for job, limit in zip(visitor.studio.jobs.all(), (["--limit", "1"], []), strict=True):
        carry_out_job(job, NONE)
        line = ["run", "toy", "--suite", str(tmp_path / "own" / "own.tsv"), *limit, "-o", str(tmp_path / job.number)]
        assert main([*line, "--name", "toy", "--quiet", "--no-report"]) == 0
        for name in ("results.csv", "results.parquet"):
            assert (job.run_folder("toy") / name).read_bytes() == (tmp_path / job.number / name).read_bytes()


def test_jobs_are_cancelled_continued_and_limited(tmp_path: Path) -> None:
    jobs = Jobs(tmp_path, {"toy": "toy"}, NONE, Limits(waiting=2))
    number = jobs.add("own.tsv", TEXT, ["toy"], None)
    job = jobs.find(number)
    jobs.cancel(number)
    assert jobs.state(job) == "cancelled"
    jobs.again(number)
    assert jobs.state(job) == "waiting"
    second = jobs.add("own.tsv", TEXT, ["toy"], None)
    with pytest.raises(UsageError, match="2 that wait"):
        jobs.add("own.tsv", TEXT, ["toy"], None)
    jobs.cancel(number)
    jobs.cancel(second)
    with pytest.raises(UsageError, match="model"):
        jobs.add("own.tsv", TEXT, ["gpt2"], None)
    for wrong in ("0003", "../0001", "1", ""):
        with pytest.raises(UsageError, match="job"):
            jobs.find(wrong)
    # A folder without its record is what a kill left of a job that nobody was told of.
    (tmp_path / "jobs" / "0003").mkdir()
    assert [one.number for one in jobs.all()] == ["0001", "0002"]
    assert jobs.add("own.tsv", TEXT, ["toy"], None) == "0004"


def test_a_job_that_takes_too_much_memory_or_time_ends_and_says_so(tmp_path: Path) -> None:
    for limits, why in ((Limits(gigabytes=0.001), "GB are allowed"), (Limits(hours=1e-9), "more than 1e-09 hours")):
        jobs = Jobs(tmp_path / why[:2], {"toy": "toy"}, NONE, limits)
        job = jobs.find(jobs.add("own.tsv", TEXT, ["toy"], None))
        # A job that never ends, in place of the one that would be done before it is looked at.
        jobs._words = lambda job: [sys.executable, "-c", "import time; time.sleep(60)"]  # type: ignore[method-assign]
        jobs._carry_out(job)
        state, said = jobs.ended(job)
        assert (state, why in said) == ("failed", True), said


def test_the_memory_of_a_job_has_that_of_the_processes_it_started() -> None:
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'print(1, flush=True); input()'])"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        alone = int(Path(f"/proc/{process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        assert module.memory_of(process.pid) > 1.5 * alone
        process.communicate(b"\n")
    assert module.memory_of(process.pid) == 0


def test_a_job_whose_text_was_changed_is_refused(tmp_path: Path) -> None:
    jobs = Jobs(tmp_path, {"toy": "toy"}, NONE)
    job = jobs.find(jobs.add("own.tsv", TEXT, ["toy"], None))
    job.file.write_text(TEXT + " ")
    assert carry_out_job(job, NONE) == 2
    assert "damaged or edited" in jobs.progress(job).note
    assert not (job.folder / "runs").exists()


def test_a_suite_without_predictions_says_so(tmp_path: Path) -> None:
    jobs = Jobs(tmp_path, {"toy": "toy"}, NONE)
    job = jobs.find(jobs.add("own.tsv", TWO_BY_TWO, ["toy"], None))
    assert carry_out_job(job, NONE) == 2
    assert "no predictions" in jobs.progress(job).note


def test_a_job_from_elsewhere_runs_no_model_that_is_not_offered(tmp_path: Path) -> None:
    Jobs(tmp_path, {"toy": "toy", "other": "random"}).add("own.tsv", TEXT, ["toy", "other"], None)
    jobs = Jobs(tmp_path, {"toy": "toy", "other": "toy"})
    jobs._carry_out(jobs.find("0001"))
    state, why = jobs.ended(jobs.find("0001"))
    assert (state, "doesn't offer random" in why) == ("failed", True)
    assert not (tmp_path / "jobs" / "0001" / "runs").exists()


def test_a_damaged_end_or_report_stops_no_other_job(tmp_path: Path) -> None:
    visitor = Visitor(tmp_path)
    jobs = visitor.studio.jobs
    assert jobs
    first, second = (jobs.find(jobs.add("own.tsv", TEXT, ["toy"], None)) for _ in range(2))
    jobs.cancel(first.number)
    (first.folder / "end.json").write_text("x")
    (second.folder / "progress.json").write_text('{"done": "many", "total": [1]}')
    assert [jobs.state(job) for job in (first, second)] == ["failed", "waiting"]
    assert jobs.progress(second) == module.Progress()
    for path in ("/jobs", "/jobs/0001", "/jobs/0002"):
        assert visitor.get(path).status == 200, path


def test_another_job_of_the_same_number_has_its_own_results(tmp_path: Path) -> None:
    visitor = Visitor(tmp_path)
    jobs = visitor.studio.jobs
    assert jobs
    pages = []
    for text in (TEXT, TEXT.replace("cat", "fox")):
        job = jobs.find(jobs.add("own.tsv", text, ["toy"], None))
        carry_out_job(job, NONE)
        pages.append(visitor.get("/jobs/0001/suite/own/2").text)
        job.folder.rename(tmp_path / f"moved{len(pages)}")
    assert ["fox" in page for page in pages] == [False, True]
