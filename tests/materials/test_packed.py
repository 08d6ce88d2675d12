"""Packed suites: gzip, Parquet, workbooks and archives are read as their content, or refused."""

import gzip
import io
import os
import tarfile
import zipfile
from pathlib import Path

import polars as pl
import pytest

from syntagm.core import InputError, SyntagmError, UsageError, utf8
from syntagm.suites import expand, read_suite_file, read_suites
from syntagm.suites.materials import packed

ROWS = "good\tbad\tparadigm\nThe kite flies.\tThe kite fly.\tkites\nÉva vole.\tÉva volent.\tkites\n"
TEXTS = [("The kite flies.", "The kite fly."), ("Éva vole.", "Éva volent.")]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def texts(name: str | Path) -> list[tuple[str, ...]]:
    [suite] = read_suites(str(name))
    assert suite.name == "kites"
    return [tuple(sentence.text for sentence in item.sentences.values()) for item in suite.items]


def workbook(path: Path, *sheets: tuple[str, list[list[str]]]) -> Path:
    """Write a workbook of strings, as spreadsheet programs do."""
    cells = lambda rows: "".join(  # noqa: E731
        "<row>" + "".join(f'<c t="inlineStr"><is><t>{cell}</t></is></c>' for cell in row) + "</row>" for row in rows
    )
    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    names = range(1, len(sheets) + 1)
    with zipfile.ZipFile(path, "w") as archive:
        listed = "".join(f'<sheet name="{sheets[n - 1][0]}" sheetId="{n}" r:id="r{n}"/>' for n in names)
        archive.writestr(
            "xl/workbook.xml", f'<workbook {space} xmlns:r="{relations}"><sheets>{listed}</sheets></workbook>'
        )
        links = "".join(
            f'<Relationship Id="r{n}" Type="{relations}/worksheet" Target="worksheets/s{n}.xml"/>' for n in names
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels", f'<Relationships xmlns="{package}/relationships">{links}</Relationships>'
        )
        root = f'<Relationship Id="r0" Type="{relations}/officeDocument" Target="xl/workbook.xml"/>'
        archive.writestr("_rels/.rels", f'<Relationships xmlns="{package}/relationships">{root}</Relationships>')
        main = "application/vnd.openxmlformats-officedocument.spreadsheetml"
        types = f'<Override PartName="/xl/workbook.xml" ContentType="{main}.sheet.main+xml"/>' + "".join(
            f'<Override PartName="/xl/worksheets/s{n}.xml" ContentType="{main}.worksheet+xml"/>' for n in names
        )
        archive.writestr("[Content_Types].xml", f'<Types xmlns="{package}/content-types">{types}</Types>')
        for n, (_, rows) in zip(names, sheets, strict=True):
            archive.writestr(
                f"xl/worksheets/s{n}.xml", f"<worksheet {space}><sheetData>{cells(rows)}</sheetData></worksheet>"
            )
    return path


TABLE = [line.split("\t") for line in ROWS.splitlines()]


def test_each_kind_has_the_same_suite(tmp_path: Path) -> None:
    folder = tmp_path / "packed"
    folder.mkdir()
    (folder / "a.tsv.gz").write_bytes(gzip.compress(ROWS.encode()))
    columns = dict(zip(TABLE[0], zip(*TABLE[1:], strict=True), strict=True))
    pl.DataFrame({name: list(cells) for name, cells in columns.items()}).write_parquet(folder / "b.parquet")
    workbook(folder / "c.xlsx", ("pairs", TABLE), ("empty", []))
    for name in ("a.tsv.gz", "b.parquet", "c.xlsx"):
        assert texts(folder / name) == TEXTS, name
    assert len(expand([str(folder)])) == 3


def test_archives_stand_for_their_folders(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("data/kites.tsv", ROWS)
        archive.writestr("data/picture.png", "x")
    with tarfile.open(tmp_path / "b.tar.gz", "w:gz") as tar:
        member = tarfile.TarInfo("data/kites.tsv")
        member.size = len(ROWS.encode())
        tar.addfile(member, io.BytesIO(ROWS.encode()))
        link = tarfile.TarInfo("data/link.tsv")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    for name in ("a.zip", "b.tar.gz"):
        assert texts(tmp_path / name) == TEXTS
    assert {path.name for path in (tmp_path / "cache").rglob("*") if path.is_file()} == {"kites.tsv"}


def test_packed_files_in_archives_are_read_and_archives_in_them_are_named(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with zipfile.ZipFile(folder / "a.zip", "w") as archive:
        archive.writestr("inner.zip", b"PK")
        archive.writestr("KITES.TSV", ROWS)
        archive.writestr("b.tsv.gz", gzip.compress(ROWS.encode()))
    skipped: list[str] = []
    files = expand([str(folder / "a.zip")], skipped)
    assert [Path(file).name for file in files] == ["KITES.TSV", "b.tsv.gz"]
    assert skipped == [f"{folder / 'a.zip'}, inner.zip: {packed.ARCHIVE}"]
    (folder / "kites.tsv").write_text(ROWS)
    (folder / "old.xls").write_bytes(b"x")
    for argument in (str(folder), f"{folder}/*", f"{folder}?good=good&bad=bad"):
        skipped.clear()
        [file] = expand([argument], skipped)
        assert "kites.tsv" in file
        assert [line.split(": ")[1].split()[1] for line in skipped] == ["archive,", "workbook;"]


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("kites.tsv", ROWS)
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("kites.tsv", ROWS.replace("kite", "bird"))
    with pytest.raises(InputError, match=r"two files called 'kites.tsv'"):
        read_suites(tmp_path / "a.zip")


def test_a_damaged_lzma_archive(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("kites.tsv", ROWS * 20)
    content = bytearray((tmp_path / "a.zip").read_bytes())
    content[60:80] = b"\xff" * 20
    (tmp_path / "a.zip").write_bytes(content)
    with pytest.raises(InputError, match="a damaged archive"):
        read_suites(tmp_path / "a.zip")


def test_columns_of_bytes_and_of_other_layouts_in_parquet(tmp_path: Path) -> None:
    pl.DataFrame({"good": ["a"], "bad": ["b"], "sound": [b"\xff"]}).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"a.parquet: columns of bytes: 'sound'"):
        read_suites(tmp_path / "a.parquet")
    pl.DataFrame({"pair": [{"good": "a", "bad": "b"}]}).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(InputError, match=r"its keys are 'pair'.*b\.parquet\?good=COLUMN"):
        read_suites(tmp_path / "b.parquet")


def test_errors_name_the_packed_file_and_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.tsv.gz").write_bytes(gzip.compress(b"good\tbad\nThe kite flies.\t\n"))
    with pytest.raises(InputError) as caught:
        read_suite_file(tmp_path / "a.tsv.gz")
    assert str(caught.value).startswith(f"{tmp_path / 'a.tsv.gz'}, line 2, bad: an empty cell")


@pytest.mark.parametrize("name", ["../out.tsv", "/tmp/out.tsv", "a/../../out.tsv", "C:/out.tsv", "a\\..\\..\\out.tsv"])
def test_names_that_lead_out_of_the_folder(tmp_path: Path, name: str) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(name, ROWS)
    with pytest.raises(InputError, match="names inside of a folder"):
        read_suites(tmp_path / "a.zip")
    assert not list(tmp_path.rglob("out.tsv"))


def test_what_is_damaged_or_grows_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "MOST_BYTES", 100_000)
    monkeypatch.setattr(utf8, "MAX_BYTES", 50_000)
    bomb = b"good\tbad\n" + b" " * 200_000
    (tmp_path / "bomb.tsv.gz").write_bytes(gzip.compress(bomb))
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.tsv", bomb)
    with tarfile.open(tmp_path / "bomb.tar.gz", "w:gz") as tar:
        member = tarfile.TarInfo("a.tsv")
        member.size = len(bomb)
        tar.addfile(member, io.BytesIO(bomb))
    pl.DataFrame({"good": ["kite " * 200] * 200, "bad": ["b"] * 200}).write_parquet(tmp_path / "bomb.parquet")
    workbook(tmp_path / "bomb.xlsx", ("pairs", [["good", "bad"], ["kite " * 40_000, "b"]]))
    (tmp_path / "cut.tsv.gz").write_bytes(gzip.compress(ROWS.encode())[:-9])
    damaged = {"not.parquet": b"PAR1 no", "not.xlsx": b"PK\3\4 no", "not.zip": b"PK no", "not.tar": b"x" * 600}
    for name, content in damaged.items():
        (tmp_path / name).write_bytes(content)
    for path in sorted(tmp_path.iterdir()):
        if path.is_file():
            with pytest.raises(SyntagmError, match=path.name):
                read_suites(path)
    assert not list(tmp_path.glob("cache/**/*.tsv"))


def test_a_workbook_with_several_sheets_needs_a_name(tmp_path: Path) -> None:
    path = workbook(tmp_path / "kites.xlsx", ("pairs", TABLE), ("notes", [["a"], ["b"]]))
    with pytest.raises(
        UsageError, match=r"2 sheets with cells; expected one of 'pairs', 'notes'. Name it: kites.xlsx.sheet="
    ):
        read_suites(path)
    assert texts(f"{path}?sheet=pairs") == TEXTS


def test_blanks_at_the_ends_of_its_cells_are_no_content(tmp_path: Path) -> None:
    rows = [["x ", " y"], [" A kite, too, flies.", "A kite, too, fly. "]]
    path = workbook(tmp_path / "kites.xlsx", ("pairs", rows))
    assert texts(f"{path}?good=x&bad=y") == [("A kite, too, flies.", "A kite, too, fly.")]


def test_a_workbook_with_two_columns_of_one_name(tmp_path: Path) -> None:
    path = workbook(
        tmp_path / "kites.xlsx", ("pairs", [["good", "bad", "good"], ["A kite flies.", "A kite fly.", "x"]])
    )
    with pytest.raises(InputError, match=r"kites.xlsx, line 1: the column 'good' twice"):
        read_suites(path)


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "a.tsv.gz").write_bytes(gzip.compress(ROWS.encode()))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "cache" / "syntagm").mkdir(parents=True)
    os.symlink(tmp_path / "elsewhere", tmp_path / "cache" / "syntagm" / "packed")
    with pytest.raises(SyntagmError, match="a link to"):
        read_suites(tmp_path / "a.tsv.gz")
    assert not list((tmp_path / "elsewhere").iterdir())
