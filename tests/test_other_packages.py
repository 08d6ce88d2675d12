"""What other packages add through entry points: found by name like our own, in every room that is open to them."""

import subprocess
import sys
from pathlib import Path

import pytest

from syntagm.core import registry

# A package with something for each of several rooms; a measure and a model family have tests of their own.
MODULES = {
    "hums": """
        \"\"\"Hums: lines of a good and a bad sentence with a vertical bar between them.\"\"\"
        from syntagm.suites import parse
        from syntagm.core import utf8
        from syntagm.suites import Item, Prediction, Sentence, Suite
        ENDINGS = (".hum",)
        def claims(path, head): return path.suffix == ".hum"
        def read(path):
            lines = [line.split("|") for line in utf8.read(path).splitlines()]
            items = tuple(Item(str(k), {"good": Sentence(a), "bad": Sentence(b)}) for k, (a, b) in enumerate(lines, 1))
            yield Suite(path.stem, items, (Prediction("full", parse("(*;%good%) < (*;%bad%)")),))
        """,
    "hum_items": """
        \"\"\"Hum items: the number of items of each suite.\"\"\"
        from syntagm.views import Table
        COLUMNS = ("suite", "items")
        def make_table(runs): return Table("Items", COLUMNS, tuple((suite.name, suite.items) for suite in runs[0].suites))
        """,
    "hum_rules": """
        from syntagm.suites.check import Spot, rule
        @rule("W901")
        def no_hum(suite):
            \"\"\"An item without a hum. Add one.\"\"\"
            for item in suite.items:
                if not any("hum" in sentence.text for sentence in item.sentences.values()):
                    yield Spot(item.id)
        """,
    "hum_export": """
        \"\"\"The name of the model.\"\"\"
        from syntagm.views import Outcome
        from syntagm.views.export.results import EXPORT
        """,
    "parrot": """
        import numpy as np
        from syntagm.models import Surprisals
        from syntagm.models import LanguageModel
        from syntagm.models import Family
        from syntagm.models import Choice, Option, Value
        ENTRY = "@article{hum-2031-loud,\\n  title = {Loud},\\n  author = {Hum, Ann},\\n  year = {2031},\\n}\\n"
        VOICE = Option("voice", Choice((Value("high", references=("hum-2031-loud",)), Value("low"))), "high", "how it speaks.")
        FAMILY = Family("parrot", "Five bits a letter.", "parrot", settings=(VOICE,), bibliography=ENTRY)
        class Parrot(LanguageModel):
            name, fingerprint, bos, settings, record = "parrot:polly", "p", "nothing", {"voice": "high"}, {}
            def score(self, texts, done=None):
                for text in texts:
                    yield Surprisals(text, np.zeros(1, np.int32), np.full(1, 5.0 * len(text)), np.ones(1, bool))
        def load(path, **options): return Parrot()
        """,
}
POINTS = """
[syntagm.formats]
hums = hums
[syntagm.views]
hum_items = hum_items
[syntagm.check]
hums = hum_rules
[syntagm.export]
hum = hum_export
[syntagm.models]
parrot = parrot
"""
CODE = """
import sys; sys.path.append({folder!r})
import syntagm as sg
from syntagm.suites import violations
from syntagm.cli import main
[suite] = sg.read_suites({folder!r} + "/a.hum")
print([str(finding) for finding in violations([suite]) if finding.code == "W901"])
run = sg.run_suites(sg.load_model("toy"), [suite], {folder!r} + "/run")
print(sg.table("hum_items", run).rows)
print(main(["export", {folder!r} + "/run", "--as", "hum", "-o", {folder!r} + "/x.csv"]))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, code in MODULES.items():
        lines = [line[8:] for line in code.splitlines()]
        (tmp_path / f"{name}.py").write_text("\n".join(lines))
    (about := tmp_path / "hums-1.dist-info").mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: hums\nVersion: 1\n")
    (about / "entry_points.txt").write_text(POINTS)
    (tmp_path / "a.hum").write_text("The dog hums|The dog hum\nThe cat barks|The cat bark\n")
    return tmp_path


@pytest.mark.slow
def test_another_package_adds_a_format_a_view_a_rule_and_an_export(folder: Path) -> None:
    code = CODE.format(folder=str(folder))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rules, rows, *rest = done.stdout.splitlines()
    assert rules == "['a, item 2: W901 An item without a hum. Add one.']"
    assert rows == "(('a', 2),)"
    assert rest[-1] == "0"
    assert (folder / "x.csv").exists()


def command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command of Syntagm beside the package."""
    code = f"import sys; sys.path.append({str(folder)!r}); from syntagm.cli import main; sys.exit(main({list(arguments)!r}))"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_a_family_of_another_package_brings_the_entries_that_it_cites(folder: Path) -> None:
    """An entry of one of its values is in the bibliography of `cite` and of the report, and can be named."""
    run = str(folder / "run")
    made = command(folder, "run", "parrot:polly", "--suite", str(folder / "a.hum"), "-o", run, "--no-cache")
    assert made.returncode == 0, made.stderr
    assert "@article{hum-2031-loud,\n  title = {Loud}," in (folder / "run" / "report.html").read_text()
    cited = command(folder, "cite", run, "--also", "hum-2031-loud")
    assert cited.stdout.count("@article{hum-2031-loud,") == 1
    assert "[@hale-2001-probabilistic; @levy-2008-expectation; @hum-2031-loud]" in cited.stdout


@pytest.mark.slow
def test_a_family_of_another_package_without_its_entries_is_refused_before_anything_is_computed(folder: Path) -> None:
    path = folder / "parrot.py"
    path.write_text(path.read_text().replace(", bibliography=ENTRY", ""))
    refused = command(folder, "run", "parrot:polly", "--suite", str(folder / "a.hum"), "-o", str(folder / "run"))
    assert refused.returncode == 2
    assert refused.stderr.splitlines()[-1] == (
        "syntagm: model family parrot: cites 'hum-2031-loud'; expected a key of a bibliography. Add the entry to the family's "
        "`bibliography`, as BibTeX."
    )
    assert not (folder / "run").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("point", "found"),
    [
        (
            "[syntagm.formats]\nbroken = broken",
            "formats: 'broken' of hums can't be imported: ModuleNotFoundError: No module",
        ),
        ("[syntagm.check]\nbroken = json:nothing", "check: 'broken' of hums can't be imported: AttributeError"),
        (
            "[syntagm.formats]\nbroken = json",
            "formats: 'broken' of hums has no ENDINGS; expected a module with ENDINGS, claims",
        ),
    ],
)
def test_what_a_package_lacks_is_one_error_with_its_name(folder: Path, point: str, found: str) -> None:
    (folder / "hums-1.dist-info" / "entry_points.txt").write_text(point)
    done = command(folder, "check", "hu2020")
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith(f"syntagm: {found}")
    assert done.stderr.endswith("Repair or uninstall hums.\n")


def test_every_open_room_has_a_group_of_its_own() -> None:
    assert len({room.folder for room in registry.ROOMS.values()}) == len(registry.ROOMS)
    for room in registry.ROOMS:
        assert registry.names(room), room
