"""Files of runs: whatever happens to a byte is refused by name, repaired with a warning, or changes no number."""

import json
import random
import shutil
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from toy_runs import agreement, edit_record, interrupt, toy_run

from syntagm.cli import main
from syntagm.core import Progress, RunError, integrity, record
from syntagm.models import load
from syntagm.runs import Run, fill, open_run, run_suites as run
from syntagm.runs.files import RECORD
from syntagm.suites import WordList, WordRow
from syntagm.views import gaps as of_gaps

WORDS = WordList(
    "two", ("singular", "plural"), (WordRow("bark", ("barks", "bark")), WordRow("sleep", ("sleeps", "sleep")))
)
SUITES = [agreement(), agreement("second", ("dog", "bird"))]
OTHERS = [agreement(nouns=("cat", "dog")), agreement("second", ("bird", "cat"))]


class Warnings(Progress):
    """Collects warnings."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def warned(self, message: str) -> None:
        self.lines.append(message)


def predictions(folder: Path, suites: Any = SUITES, progress: Progress | None = None) -> Run:
    return run(load("toy"), suites, folder, progress=progress)


def gaps(folder: Path, suites: Any = SUITES, progress: Progress | None = None) -> Run:
    return fill(load("toy"), suites, WORDS, folder, top=(0.9,), progress=progress)


MAKERS: dict[str, Callable[..., Run]] = {"predictions": predictions, "gaps": gaps}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of each task, an interrupted one, and one of other suites to swap files with."""
    place = tmp_path_factory.mktemp("made")
    for name, make in MAKERS.items():
        make(place / name)
        make(place / f"{name}-other", OTHERS)
    shutil.copytree(place / "predictions", place / "interrupted")
    interrupt(place / "interrupted")
    shutil.copytree(place / "predictions-other", place / "interrupted-other")
    return place


def numbers(folder: Path) -> str:
    """All that commands read from a run: whether it is done, numbers, signatures, counts of reasons."""
    read = open_run(folder)
    found: list[Any] = [read.done, read.model, read.tolerance, read.suites, read.undefined, read.results().rows()]
    found += [str(read.signature(suite.name, name)) for suite in read.suites for name in suite.predictions]
    found += [read.table(ending).rows() for ending in read.tables]
    if of_gaps.over_gaps(read):
        found += [of_gaps.words(read), read.record["contexts"], read.record["options"]]
    return repr(found)


def flip(draw: random.Random, content: bytes, other: bytes) -> bytes:
    place = draw.randrange(len(content))
    return content[:place] + bytes([content[place] ^ 1 << draw.randrange(8)]) + content[place + 1 :]


def cut(draw: random.Random, content: bytes, other: bytes) -> bytes:
    return content[: draw.randrange(len(content))]


def edit(draw: random.Random, content: bytes, other: bytes) -> bytes:
    """Replace a letter or digit by another one."""
    place = draw.choice([place for place, byte in enumerate(content) if chr(byte).isalnum()])
    signs = b"0123456789" if chr(content[place]).isdigit() else b"abcdefghijklmnopqrstuvwxyz"
    return content[:place] + bytes([draw.choice(signs)]) + content[place + 1 :]


def swap(draw: random.Random, content: bytes, other: bytes) -> bytes:
    return other


def drop_a_line(draw: random.Random, content: bytes, other: bytes) -> bytes:
    lines = content.splitlines(keepends=True)
    del lines[draw.randrange(len(lines))]
    return b"".join(lines)


DAMAGES = (flip, flip, cut, edit, swap, drop_a_line)


def kinds_of(folder: Path) -> Iterator[Path]:
    """The files of a run that are read again."""
    [inspected] = integrity.of_folder(folder)
    return (finding.path for finding in inspected.findings if finding.state == "whole")


def other_file(path: Path, folder: Path, other: Path) -> bytes:
    """A file of the same kind of another run."""
    name = path.relative_to(folder).as_posix()
    if path.parent == folder:
        return (other / name).read_bytes()
    ending = path.name.partition(".")[2]
    return next(file for file in (other / "shards").iterdir() if file.name.partition(".")[2] == ending).read_bytes()


def fuzz(made: Path, tmp_path: Path, tries: int, seed: int) -> dict[str, int]:
    """Damage files and read the runs; how many were refused by name, and how many read as before."""
    draw, counts = random.Random(seed), {"refused": 0, "same": 0}
    for name in ("predictions", "gaps", "interrupted"):
        folder = Path(shutil.copytree(made / name, tmp_path / f"{name}-{seed}"))
        expected, files = numbers(folder), list(kinds_of(folder))
        for _ in range(tries // 3):
            path, damage = draw.choice(files), draw.choice(DAMAGES)
            content = path.read_bytes()
            path.write_bytes(damage(draw, content, other_file(path, folder, made / f"{name}-other")))
            about = f"{path.relative_to(folder)}, {damage.__name__}, seed {seed}"
            try:
                found = numbers(folder)
            except RunError as error:
                counts["refused"] += 1
                named = {"run.json", "ledger.jsonl", path.name}
                assert any(part in error.place for part in named), about
            else:
                counts["same"] += 1
                # Units of an unfinished run that are not in the ledger are computed when the run goes on.
                lost = name == "interrupted" and path.name in ("ledger.jsonl", "run.json")
                assert found == expected or (lost and found.startswith("[False")), about
            [inspected] = [each for each in integrity.of_folder(folder) if each.path == folder] or [None]
            broken = inspected is None or any(each.state == "damaged" for each in inspected.findings)
            assert broken or path.read_bytes() == content or name == "interrupted", about
            path.write_bytes(content)
    return counts


@pytest.mark.slow
def test_no_damage_changes_a_number_in_silence(made: Path, tmp_path: Path) -> None:
    counts = fuzz(made, tmp_path, 60, seed=1)
    assert counts["refused"] > 30


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 12))
def test_no_damage_changes_a_number_in_silence_in_thousands_of_tries(made: Path, tmp_path: Path, seed: int) -> None:
    fuzz(made, tmp_path, 300, seed)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["predictions", "gaps", "interrupted"])
def test_the_same_command_repairs_or_refuses(made: Path, tmp_path: Path, name: str) -> None:
    """With a warning; only run.json can't be made again from the rest."""
    make, draw = MAKERS.get(name, predictions), random.Random(name)
    whole = Path(shutil.copytree(made / name, tmp_path / "whole"))
    make(whole)
    expected = numbers(whole)
    for at, path in enumerate(list(kinds_of(made / name))):
        for damage in (flip, swap):
            folder = Path(shutil.copytree(made / name, tmp_path / f"{at}-{damage.__name__}"))
            file = folder / path.relative_to(made / name)
            other = other_file(path, made / name, made / f"{name}-other")
            file.write_bytes(damage(draw, file.read_bytes(), other))
            warnings = Warnings()
            if file.name == "run.json":
                with pytest.raises(RunError, match=r"run\.json|other suites"):
                    make(folder, progress=warnings)
                continue
            make(folder, progress=warnings)
            # The word list is written anew whenever the command is given, and results at the end of a run.
            always = file.name == "words.csv" or (name == "interrupted" and "results" in file.name)
            assert always or any(file.name in line or file.name[:8] in line for line in warnings.lines), file
            assert numbers(folder) == expected
            assert main(["integrity", str(folder)]) == 0


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path to each value in a JSON value."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*place, key)
        yield from places(inner, (*place, key))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["predictions", "gaps"])
def test_a_sealed_record_of_another_shape_is_refused_with_the_place(made: Path, tmp_path: Path, name: str) -> None:
    """Entries that are missing, new, or of another type, under a seal that fits."""
    folder = Path(shutil.copytree(made / name, tmp_path / name))
    whole = RECORD.read(folder / "run.json")
    for at, place in enumerate(places(whole)):
        changed = deepcopy(whole)
        inner = changed
        for key in place[:-1]:
            inner = inner[key]
        if at % 2:
            del inner[place[-1]]
        else:
            inner[place[-1]] = {"unknown": 1} if at % 4 else json.loads("[" * 90 + "]" * 90)
        RECORD.write(folder / "run.json", changed)
        try:
            numbers(folder)
        except RunError as error:
            assert any(name in error.place for name in ("run.json", "ledger.jsonl", "words.csv")), place
    RECORD.write(folder / "run.json", whole | {"new": 1})
    with pytest.raises(RunError, match=r'run\.json: the unknown key "new"; expected one of format, task'):
        open_run(folder)


def test_a_line_of_another_shape_is_refused_with_the_place(made: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(made / "interrupted", tmp_path / "run"))
    ledger = folder / "ledger.jsonl"
    first, second = ledger.read_text().splitlines()
    entry = {key: value for key, value in json.loads(second).items() if key != "seal"}
    for changed, found in (
        (entry | {"cached": "0"}, 'line 2, cached: "0"; expected an integer'),
        (entry | {"new": 1}, 'line 2: the unknown key "new"'),
        ({"shard": "x"}, "line 2: no 'suite'"),
    ):
        ledger.write_text(f"{first}\n{record.sealed(changed)}\n")
        with pytest.raises(RunError, match=r"ledger\.jsonl, line 2") as caught:
            open_run(folder)
        assert found in str(caught.value)
    for line in ("[" * 100_000, '{"a":' * 100_000, "\x00", '{"shard": 1}'):
        ledger.write_text(f"{first}\n{line}\n")
        with pytest.raises(RunError, match=r"ledger\.jsonl, line 2: damaged or edited"):
            open_run(folder)


def test_an_intended_edit_is_sealed_and_recorded(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path(shutil.copytree(made / "predictions", tmp_path / "run"))
    path = folder / "run.json"
    path.write_text(path.read_text().replace('"name": "toy:12-sentences"', '"name": "toy:renamed"'))
    assert main(["integrity", str(folder)]) == 1
    assert "syntagm seal" in capsys.readouterr().out
    assert main(["seal", str(folder)]) == 0
    assert capsys.readouterr().out == f"changed: run.json\n{folder}: sealed\n"
    renamed = open_run(folder)
    assert (renamed.model, renamed.done) == ("toy:renamed", True)
    [renewed] = renamed.record["renewed"]
    assert renewed["changed"] == ["run.json"]
    # The results are written again, under the new name.
    assert (folder / "results.csv").read_text().splitlines()[1].startswith("toy:renamed,")
    assert main(["integrity", str(folder)]) == 0
    capsys.readouterr()
    assert main(["seal", str(folder)]) == 0
    assert capsys.readouterr().out == f"{folder}: nothing has changed\n"
    # The same command finds nothing to do, and keeps the note.
    assert predictions(folder).record["renewed"] == [renewed]
    path.write_text(path.read_text().replace('"status": "done"', '"status": "perfect"'))
    assert main(["seal", str(folder)]) == 2
    assert 'run.json, status: "perfect"; expected one of done, interrupted, running' in capsys.readouterr().err


@pytest.mark.parametrize("name", MAKERS)
def test_a_record_of_format_3_has_the_kinds_of_its_task(made: Path, tmp_path: Path, name: str) -> None:
    folder = Path(shutil.copytree(made / name, tmp_path / name))
    path, recorded = folder / "run.json", RECORD.read(folder / "run.json")
    assert recorded["format"] == 4
    path.write_text(record.sealed({key: recorded[key] for key in recorded if key != "kinds"} | {"format": 3}))
    before = path.read_bytes()
    assert open_run(folder).record == recorded
    # Nothing is left to do, and nothing is written.
    MAKERS[name](folder)
    assert path.read_bytes() == before
    # What is computed again is recorded in the current format.
    (folder / "results.csv").unlink()
    MAKERS[name](folder)
    assert RECORD.read(path)["format"] == 4
    assert b'"format": 4' in path.read_bytes()


def test_a_record_of_format_3_may_have_no_kinds_and_one_of_format_4_must(made: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(made / "predictions", tmp_path / "run"))
    path, recorded = folder / "run.json", RECORD.read(folder / "run.json")
    for changed, refusal in (
        (recorded | {"format": 3}, 'the unknown key "kinds"'),
        ({key: recorded[key] for key in recorded if key != "kinds"}, "no 'kinds'; expected the key 'kinds'"),
        (recorded | {"format": 2}, "format 2; expected format 3 or 4"),
        (recorded | {"format": [3]}, "format a list; expected format 3 or 4"),
    ):
        path.write_text(record.sealed(changed))
        with pytest.raises(RunError, match=refusal):
            open_run(folder)


@pytest.mark.parametrize(
    ("name", "before", "after", "found"),
    [
        ("predictions", '"name": "second"', '"name": "third"', "suite third: third; expected the suite of unit "),
        ("interrupted", '"name": "second"', '"name": "third"', "suite third: third; expected the suite of unit "),
        ("gaps", '"second"', '"third"', "suites: no suite second; expected that suite, of which unit "),
        ("gaps", '"second": {', '"third": {', "contexts: agreement, third; expected the suites of the record"),
        ("predictions", '"name": "second"', '"name": "agreement"', "suites: agreement, agreement; expected each"),
        (
            "predictions",
            '"verb": "',
            '"noun": "',
            "predictions: full_sentence, noun; expected the measures in the tables",
        ),
        ("gaps", '"tse": "', '"noun": "', "predictions: equal_weight"),
        ("predictions", '"items": 3', '"items": 4', "items: 4; expected the number in the tables: 3"),
        ("predictions", '"good"', '"fine"', "conditions: bad, fine; expected the conditions in the tables: bad, good"),
        ("predictions", '"tolerance": 0.0001', '"tolerance": 1.9', "options.tolerance: 1.9, under which"),
        ("gaps", '"tolerance": 0.0001', '"tolerance": 99.0', "options.tolerance: 99, under which"),
        ("predictions", '"shards": [', '"shards": ["more", ', "unit more, which is not in ledger.jsonl"),
        ("gaps", "0.9", "0.8", "tables with other columns"),
        (
            "gaps",
            '"equal_weight": "share"',
            '"equal_weight": "bits"',
            "kinds: equal_weight(top=0.9): share, equal_weight: bits",
        ),
        (
            "gaps",
            '"equal_weight": "share"',
            '"equal_weight": "rank"',
            "suite agreement, equal_weight: the value 0.5; expected",
        ),
    ],
)
def test_a_record_that_contradicts_the_tables_is_not_sealed(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, before: str, after: str, found: str
) -> None:
    folder = Path(shutil.copytree(made / name, tmp_path / name))
    path, csv = folder / "run.json", folder / "results.csv"
    path.write_text(path.read_text().replace(before, after))
    edited, results = path.read_text(), csv.read_bytes()
    assert main(["seal", str(folder)]) == 2
    refusal = capsys.readouterr().err
    assert found in refusal
    assert "Undo this change of run.json" in refusal
    assert (path.read_text(), csv.read_bytes()) == (edited, results)
    assert main(["integrity", str(folder)]) == 1


@pytest.mark.parametrize("name", ["predictions", "gaps", "interrupted"])
def test_another_name_of_the_model_is_sealed(made: Path, tmp_path: Path, name: str) -> None:
    folder = Path(shutil.copytree(made / name, tmp_path / name))
    path = folder / "run.json"
    path.write_text(path.read_text().replace('"name": "toy:12-sentences"', '"name": "toy:renamed"'))
    assert main(["seal", str(folder)]) == 0
    assert open_run(folder).model == "toy:renamed"


def test_a_seal_is_not_renewed_over_damaged_tables(made: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(made / "predictions", tmp_path / "run"))
    path = folder / "run.json"
    path.write_text(path.read_text().replace('"command": ""', '"command": "syntagm run"'))
    [shard, *_] = (folder / "shards").glob("*.results.parquet")
    shard.write_bytes(shard.read_bytes()[:-1])
    before = path.read_bytes()
    assert main(["seal", str(folder)]) == 2
    assert path.read_bytes() == before
    assert main(["integrity", str(folder)]) == 1


@pytest.mark.slow
def test_a_kill_between_any_two_writes_of_a_repair(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A damaged ledger of a finished run: wherever the repair is cut off, the same command ends with the same numbers."""

    class KillError(BaseException):
        pass

    from syntagm.core import atomic

    original, expected, ended = atomic.os.replace, numbers(made / "predictions"), False
    for last in range(1, 30):
        folder = Path(shutil.copytree(made / "predictions", tmp_path / str(last)))
        ledger = folder / "ledger.jsonl"
        ledger.write_bytes(ledger.read_bytes().replace(b'"cached"', b'"kached"', 1))
        left = last

        def replace(*arguments: Any) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                raise KillError
            original(*arguments)

        with monkeypatch.context() as patched:
            patched.setattr(atomic.os, "replace", replace)
            try:
                predictions(folder)
                ended = True
            except KillError:
                pass
        predictions(folder)
        assert numbers(folder) == expected
        if ended:
            break
    assert ended
    assert last > 3


def test_a_record_of_an_experiment_is_sealed(tmp_path: Path) -> None:
    """Each entry of both kinds of records: a changed byte is refused; see also `tests/papers/test_papers_claim.py`."""
    from syntagm.papers.experiment.design import DESIGN
    from syntagm.runs import PERPLEXITY

    text = [{"name": "t", "files": 1, "bytes": 2, "sha256": "0"}]
    design = {"corpus": text, "valid": text, "test": text, "draw": 1, "suites": ["a"], "suite_hashes": {"a": "b"}}
    design |= {"sizes": {"xs": 9}, "families": {"ngram": {"order": 3}}}
    perplexity = {name: 7 for name in PERPLEXITY.shape if name not in ("format", "unseen_classes?", "renewed?")}  # type: ignore[union-attr]
    perplexity |= {"family": "ngram", "size": "xs", "model": "m", "fingerprint": "f", "policies": {}, "weights": "w"}
    for form, content in ((DESIGN, design), (PERPLEXITY, perplexity)):
        path = tmp_path / "record.json"
        form.write(path, content)
        whole = path.read_bytes()
        assert form.read(path) == content | {"format": form.format}
        for place in range(0, len(whole) - 1, 5):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
            with pytest.raises(RunError, match=r"record\.json"):
                form.read(path)


def test_edited_entries_are_refused_even_where_no_number_depends_on_them(tmp_path: Path) -> None:
    toy_run(tmp_path, agreement())
    edit_record(tmp_path, command="syntagm run")
    assert open_run(tmp_path).record["command"] == "syntagm run"
    path = tmp_path / "run.json"
    path.write_text(path.read_text().replace("syntagm run", "syntagm ran"))
    with pytest.raises(RunError, match=r"run\.json: damaged or edited: its content does not fit its seal"):
        open_run(tmp_path)


def test_a_place_is_outside_of_the_seal_and_nothing_else_is(tmp_path: Path) -> None:
    """Each bit after the seal is flipped: the record is refused, or has another place and is the same otherwise."""
    predictions(tmp_path)
    path, changes = tmp_path / "run.json", set[int]()
    RECORD.write(path, RECORD.read(path) | {"place": 3})
    content, expected = path.read_bytes(), RECORD.read(path)
    assert json.loads(content)["place"] == 3
    for place in range(content.rindex(b"place") - 5, len(content)):
        for bit in range(8):
            path.write_bytes(content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :])
            try:
                found = RECORD.read(path)
            except RunError as error:
                assert error.place.startswith(str(path))
            else:
                assert found | {"place": 3} == expected
                changes.add(found["place"])
    # The digits that differ from 3 in one bit.
    assert changes == {1, 2, 7}
    # Behind the seal of any other record stands nothing, nor may anything else stand there.
    line = record.sealed({"n": 1}, beside={"place": 3}).encode()
    assert not record.is_sealed(line)
    assert not record.is_sealed(line, "rank")
    assert record.is_sealed(line, "place")
