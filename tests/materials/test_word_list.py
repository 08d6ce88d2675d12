"""Word lists: our own, and the published one with its faults."""

from pathlib import Path

import pytest

from syntagm.core import InputError, UsageError
from syntagm.suites import WordList, WordRow, kept, read_word_list, word_list

OURS = "lemma,form:singular,form:plural,band,noun\nbe,is,are,1,no\nwalk,walks,walk,2,yes\n"
# Faults as the published list has them: a wrong form, a past tense, no verb, and a form in two rows.
PUBLISHED = """\
idx,sing,plur,freq
_,walks,walk,_
_,haves,have,_
_,was,were,_
_,attentions,attention,_
_,strolls,stroll,_
_,strolls,strol,_
"""


def written(folder: Path, text: str, name: str = "list.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_our_own_lists(tmp_path: Path) -> None:
    found = read_word_list(written(tmp_path, OURS))
    assert (found.name, found.labels, found.remarks) == ("list", ("singular", "plural"), ())
    assert found.rows[1] == WordRow("walk", ("walks", "walk"), {"band": "2", "noun": "yes"})
    assert [found.label(word) for word in ("is", "walk", "ran")] == ["singular", "plural", None]
    assert read_word_list(written(tmp_path, found.csv(), "list.csv")) == found


def test_further_words_say_a_label_and_are_no_forms(tmp_path: Path) -> None:
    header = "lemma,form:singular,form:plural,also:singular,person\n"
    text = header + "self,himself,themselves,herself itself,3\nme,myself,ourselves,,1\n"
    found = read_word_list(written(tmp_path, text))
    assert found.rows[0].also == {"singular": ("herself", "itself")}
    assert [found.label(word) for word in ("herself", "itself", "themselves")] == ["singular", "singular", "plural"]
    assert found.csv() == text
    without = read_word_list(written(tmp_path, text.replace("herself itself", ""), "without.csv"))
    assert without.hash != found.hash
    assert without.label("herself") is None
    with pytest.raises(InputError, match="also:dual"):
        read_word_list(written(tmp_path, text.replace("also:singular", "also:dual"), "odd.csv"))


def test_tags_do_not_change_what_numbers_depend_on(tmp_path: Path) -> None:
    other = read_word_list(written(tmp_path, OURS.replace(",2,yes", ",9,no"), "other.csv"))
    same = read_word_list(written(tmp_path, OURS))
    assert other.hash == same.hash
    assert read_word_list(written(tmp_path, OURS.replace("walks", "walketh"))).hash != same.hash


def test_a_list_is_written_as_all_csv_is_and_read_back_exactly(tmp_path: Path) -> None:
    tags = [{"note": "=1+1"}, {"note": "@x", "log": "-3.50"}, {"note": "one\rtwo"}, {"note": '"a", b\nc'}, {"log": "+"}]
    rows = tuple(WordRow(f"-v{k}", (f"+v{k}s", f"=v{k}"), one) for k, one in enumerate(tags))
    words = WordList("odd", ("a", "b"), rows)
    text = words.csv()
    assert text.splitlines()[:3] == [
        "lemma,form:a,form:b,note,log",
        '"-v0","+v0s","=v0","=1+1",',
        '"-v1","+v1s","=v1","@x","-3.50"',
    ]
    path = tmp_path / "odd.csv"
    path.write_bytes(text.encode())
    again = read_word_list(path)
    assert again.hash == words.hash
    # A tag that a row has not is empty in the file.
    assert [row.tags for row in again.rows] == [{"note": "", "log": ""} | dict(row.tags) for row in rows]
    assert again.csv() == text


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (OURS + "stroll,strolls,walk,3,yes\n", "'walk' in row 2 .walk. and in row 3 .stroll."),
        ("lemma,form:a,form:b\nsheep,sheep,sheep\n", "'sheep' in row 1 .sheep. and in row 1 .sheep."),
        ("lemma,form:a,form:b\nbe,is,\n", "row 1: the forms .'is', ''."),
        ("lemma,form:a,form:b\nbe,is\n", "line 2: 2 cells; expected 3"),
        ("lemma,form:a,form:b\n,is,are\n", "row 1: the lemma ''; expected a lemma"),
        ('lemma,form:a,form:b\nbe,"i\ns",are\n', r"row 1: the forms .'i.ns', 'are'."),
        ("lemma,form:a,form:b\nbe,i\0s,are\n", "line 2: a NUL character"),
        ("lemma,form:a\nbe,is\n", "the header 'lemma,form:a'"),
        ("word,singular,plural,count\nbe,is,are,3\n", "the header 'word,singular,plural,count'; expected lemma,form:"),
        ("lemma,form:a,form:a\nbe,is,are\n", "the header 'lemma,form:a,form:a'"),
        ("lemma,form:a,form:b\n", "no rows"),
        ("", "an empty file"),
        ('lemma,form:a,form:b\n"be,is,are\n', "can't be read"),
    ],
)
def test_what_is_no_list_is_refused(tmp_path: Path, text: str, found: str) -> None:
    with pytest.raises(InputError, match=found):
        read_word_list(written(tmp_path, text))


def test_names_that_are_no_lists(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="word list nowhere: no such file"):
        read_word_list("nowhere")
    with pytest.raises(UsageError, match="faults=mend or faults=keep"):
        read_word_list(f"{written(tmp_path, PUBLISHED)}?faults=some")
    with pytest.raises(UsageError, match="a list other than the published one"):
        read_word_list(f"{written(tmp_path, OURS)}?faults=keep")
    with pytest.raises(UsageError, match="a list other than the published one"):
        read_word_list("verbs?faults=keep")


def test_question_marks_in_names_of_files(tmp_path: Path) -> None:
    folder = tmp_path / "gpt2?bos=no"
    folder.mkdir()
    ours = written(folder, OURS, "words.csv")
    assert read_word_list(ours) == read_word_list(str(ours)) == read_word_list(written(tmp_path, OURS, "words.csv"))
    assert read_word_list(written(folder, OURS, "list?faults=keep")).name == "list?faults=keep"
    published = written(folder, PUBLISHED)
    assert (
        read_word_list(f"{published}?faults=keep").rows
        == read_word_list(f"{written(tmp_path, PUBLISHED)}?faults=keep").rows
    )
    # A path is a file, and never has options.
    for path in (folder / "none.csv", Path(f"{published}?faults=keep")):
        with pytest.raises(UsageError, match="no such file"):
            read_word_list(path)


@pytest.mark.parametrize("header", [True, False])
def test_the_published_list_is_mended_by_name(tmp_path: Path, header: bool) -> None:
    text = PUBLISHED if header else PUBLISHED.partition("\n")[2]
    found = read_word_list(written(tmp_path, text))
    assert [row.forms for row in found.rows] == [("walks", "walk"), ("has", "have"), ("strolls", "stroll")]
    first = 2 if header else 1
    assert found.remarks == (
        "6 rows, numbered by their order; idx has 1 different values",
        f"line {first + 1}, haves/have: a wrong form, corrected to has",
        f"line {first + 2}, was/were: skipped: a past tense in a list of present-tense forms",
        f"line {first + 3}, attentions/attention: skipped: not a verb, or not a base form",
        f"line {first + 5}, strolls/strol: skipped: strolls is also in line {first + 4}",
    )


def test_or_kept_as_it_is(tmp_path: Path) -> None:
    found = read_word_list(f"{written(tmp_path, PUBLISHED)}?faults=keep")
    assert [row.forms[0] for row in found.rows] == ["walks", "haves", "was", "attentions", "strolls", "strolls"]
    assert len(found.remarks) == 1
    with pytest.raises(InputError, match="'strolls' in row 5"):
        read_word_list(written(tmp_path, found.csv(), "again.csv"))
    assert kept(found.csv().encode(), "again.csv").rows == found.rows


def test_every_bundled_list_can_be_read() -> None:
    for name in word_list.bundled():
        found = read_word_list(name)
        assert found.name == name
        assert isinstance(found, WordList)


def test_the_published_file(shared: Path) -> None:
    path = shared / "data" / "refining_tse" / "combined_verb_list.csv"
    mended, kept = read_word_list(path), read_word_list(f"{path}?faults=keep")
    skipped = [remark for remark in mended.remarks if ": skipped: " in remark]
    assert len(kept.rows) == 1951
    assert len(mended.rows) == 1951 - len(skipped)
    put_right = [remark for remark in mended.remarks if "a wrong form" in remark]
    assert len(put_right) == 5
