"""The templates of Newman et al. 2021, and that no other file is taken for one."""

import json
from pathlib import Path

import pytest

from syntagm.core import InputError, UsageError
from syntagm.suites import claimed, published, read_suite_file
from syntagm.suites.formats import blimp, refining_tse

PAIRS = [
    {"sentence_good": "the Old painter, of cats, sings", "sentence_bad": "the Old painter, of cats, sing", "label": -1},
    {"sentence_good": "'McDonald paints well!'", "sentence_bad": "'McDonald paint well!'", "label": -1},
    {"sentence_good": "the painters sing", "sentence_bad": "the painters sings", "label": -2},
]


def written(folder: Path, *rows: dict[str, object], name: str = "sent_comp_all.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_sentences_become_those_of_the_released_code(tmp_path: Path) -> None:
    # A capital on the first word, none within it; marks at both ends off, one full stop on.
    [suite] = read_suite_file(written(tmp_path, *PAIRS))
    assert [item.sentences["good"].text for item in suite.items] == [
        "The Old painter, of cats, sings.",
        "Mcdonald paints well.",
        "The painters sing.",
    ]
    assert suite.name == "sent_comp_all"
    assert published(suite).tags == {"construction": "In a sentential complement"}
    assert [item.tags for item in suite.items] == [{"number": "sing"}, {"number": "sing"}, {"number": "plur"}]


def test_or_stay_as_they_are(tmp_path: Path) -> None:
    path = written(tmp_path, *PAIRS, name="mine.jsonl")
    [suite] = read_suite_file(f"{path}?context=as-is")
    assert [item.sentences["bad"].text for item in suite.items] == [str(row["sentence_bad"]) for row in PAIRS]
    assert "construction" not in suite.tags


@pytest.mark.parametrize(
    ("row", "found"),
    [
        (
            {"sentence_good": "the cat sings", "sentence_bad": "the cats sing", "label": -1},
            "line 2: words that differ: 2",
        ),
        (
            {"sentence_good": "the cat sings", "sentence_bad": "the cat sings!", "label": -1},
            "line 2: words that differ: 0",
        ),
        ({"sentence_good": "the cat", "sentence_bad": "the cat sings", "label": -1}, "line 2: words that differ: 1"),
        (
            {"sentence_good": "the cat sings", "sentence_bad": "the cat sing", "label": 1},
            "line 2: the label 1; expected -1",
        ),
        (
            {"sentence_good": "the cat sings", "sentence_bad": "the cat sing", "label": [1]},
            "line 2: the label a list; expected -1",
        ),
        ({"sentence_good": "the cat sings", "sentence_bad": "the cat sing"}, "line 2: no 'label'"),
        ({"sentence_good": "the cat sings", "label": -1}, "line 2: no 'sentence_bad'"),
    ],
)
def test_what_is_no_template_is_refused_with_its_line(tmp_path: Path, row: dict[str, object], found: str) -> None:
    with pytest.raises(InputError, match=found):
        read_suite_file(written(tmp_path, PAIRS[2], row))


def test_an_unknown_context_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="context=raw; expected published or as-is"):
        read_suite_file(f"{written(tmp_path, *PAIRS)}?context=raw")


def test_which_files_are_claimed(tmp_path: Path) -> None:
    mine = written(tmp_path, PAIRS[0], name="a.jsonl")
    theirs = written(
        tmp_path, {"sentence_good": "a b", "sentence_bad": "a c", "UID": "x", "pairID": "0"}, name="b.jsonl"
    )
    other = written(tmp_path, {"sentence_good": "a b", "sentence_bad": "a c", "label": 1}, name="c.jsonl")
    assert [claimed(path) for path in (mine, theirs, other)] == [[refining_tse], [blimp], [blimp]]


@pytest.mark.slow
def test_the_published_files(shared: Path) -> None:
    expected = {"simple_agrmt_all": 140, "sent_comp_all": 1680, "vp_coord_all": 840}
    for name, items in expected.items():
        [suite] = read_suite_file(shared / "data" / "refining_tse" / f"{name}.jsonl")
        assert len(suite.items) == items
    [suite] = read_suite_file(shared / "data" / "refining_tse" / "regular_plural_subject_verb_agreement_1.jsonl")
    assert (len(suite.items), published(suite).tags) == (1000, {"construction": "BLiMP"})
    for path in sorted((shared / "data" / "blimp").glob("*.jsonl"))[:3]:
        assert refining_tse not in claimed(path)
