"""BLLIP as the LDC ships it, in a made-up tree of folders: which sections and sentences belong to which set."""

from pathlib import Path

import pytest

from syntagm.core import InputError, UsageError
from syntagm.training import bllip, corpus, trees

YEARS = (1987, 1988, 1989)
HELD_OUT = {1987: (1, 2), 1988: (1, 2), 1989: (10, 11)}


@pytest.fixture(scope="module")
def ldc(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sections 1 to 126: two trees each in two files, the held-out ones 1,004 in three, each word saying where it stands."""
    root = tmp_path_factory.mktemp("bllip")
    for year in YEARS:
        for number in range(1, 127):
            section = root / str(year) / f"w{year % 10}_{number:03d}"
            section.mkdir(parents=True)
            sizes = (600, 403, 1) if number in HELD_OUT[year] else (1, 1)
            # Written backwards, so that the order of the folder is not that of the names.
            for part, size in reversed(list(enumerate(sizes))):
                text = "".join(f"(S1 (S (NN {year}/{number}/{part}/{index})\n  (. .)))\n\n" for index in range(size))
                # The last tree of a file may lack its line end.
                (section / f"{section.name}.{part:03d}").write_text(text.rstrip("\n"))
        (section / ".DS_Store").write_bytes(b"\0")
        (root / str(year) / "readme.txt").write_text("made up")
    return root


def places(ldc: Path, name: str) -> list[tuple[int, ...]]:
    texts = corpus.texts([f"bllip:{ldc}?set={name}"])
    return [tuple(map(int, text.removesuffix(" .").split("/"))) for text in texts]


def test_sizes_of_the_sets() -> None:
    held_out = {year: {*bllip.DEV[year], *bllip.TEST[year]} for year in YEARS}
    for year in YEARS:
        xs, sm, md = (set(chosen[year]) for chosen in (bllip.XS, bllip.SM, bllip.MD))
        assert (len(xs), len(sm), len(md)) == (2, 10, 30)
        assert xs < sm < md
        assert not md & held_out[year]
        assert held_out[year] == set(HELD_OUT[year])


@pytest.mark.parametrize(("name", "sections"), [("xs", 6), ("sm", 30), ("md", 90), ("lg", 3 * 124)])
def test_every_tree_of_the_sections_in_order(ldc: Path, name: str, sections: int) -> None:
    found = places(ldc, name)
    # Two files of one tree in each section: no last tree is lost.
    assert len(found) == 2 * sections
    assert found == sorted(found)
    assert {place[0] for place in found} == set(YEARS)
    assert not any(number in HELD_OUT[year] for year, number, *_ in found)


def test_the_sets_are_nested(ldc: Path) -> None:
    xs, sm, md, lg = (set(places(ldc, name)) for name in ("xs", "sm", "md", "lg"))
    assert xs < sm < md < lg


def test_dev_is_the_first_500_of_the_first_section(ldc: Path) -> None:
    found = places(ldc, "dev")
    # All within the first file, of 600.
    expected = [(year, HELD_OUT[year][0], 0, index) for year in YEARS for index in range(500)]
    assert found == expected


def test_test_is_the_first_1000_of_the_second_section(ldc: Path) -> None:
    found = places(ldc, "test")
    # 600 of the first file and 400 of the second.
    places_of_a_section = [(0, index) for index in range(600)] + [(1, index) for index in range(400)]
    assert found == [(year, HELD_OUT[year][1], *place) for year in YEARS for place in places_of_a_section]


def test_trees_and_record(ldc: Path) -> None:
    path = f"bllip:{ldc}?set=xs"
    first = next(corpus.treebank([path]))
    assert str(first) == "(S1 (S (NN 1987/71/0/0) (. .)))"
    assert first == next(bllip.read(ldc, "xs"))
    [entry] = corpus.record([path])
    assert (entry["name"], entry["files"]) == ("bllip:xs", 12)
    assert [file.name for file in corpus.files([path])][:3] == ["w7_071.000", "w7_071.001", "w7_122.000"]
    assert all(trees.words(tree)[1] == "." for tree in bllip.read(ldc, "xs"))


def test_refusals(ldc: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'xl'; expected one of xs, sm, md, lg, dev, test"):
        next(corpus.texts([f"bllip:{ldc}?set=xl"]))
    with pytest.raises(UsageError, match="set=xs&year=1987"):
        next(corpus.texts([f"bllip:{ldc}?set=xs&year=1987"]))
    with pytest.raises(InputError, match=r"1987/w7_071: no such folder; expected a section of BLLIP"):
        next(corpus.texts([f"bllip:{tmp_path}?set=xs"]))
    with pytest.raises(InputError, match=r"1987: no sections; expected folders w7_001"):
        next(corpus.texts([f"bllip:{tmp_path}?set=lg"]))


def test_a_section_cut_short(tmp_path: Path) -> None:
    for section in ("1987/w7_001", "1988/w8_001", "1989/w9_010"):
        (tmp_path / section).mkdir(parents=True)
        (tmp_path / section / "a").write_text("(S1 (A b))\n" * 499)
    with pytest.raises(InputError, match=r"w7_001: 499 trees; expected at least 500"):
        list(bllip.read(tmp_path, "dev"))
