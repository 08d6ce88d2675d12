"""The list of datasets, the page made of it, and the languages of the published samples."""

from pathlib import Path

import pytest

from syntagm.core import SyntagmError, UsageError
from syntagm.suites import Item, Sentence, Suite, convert, datasets, expand, published, read_suite_file, swapped
from tools import datasets as page

DATA = Path(__file__).parents[1] / "data"
# Folder of the published samples -> format, language and number of items of each file, counted in the files apart from this.
SAMPLES = {
    "bhs/hindi-S_O_V.json": ("hi", 40), "blimp_nl/Phenomenon02.csv": ("nl", 30),
    "clams/de_evalset.vp_coord.txt": ("de", 100), "clams/fr_evalset.simple_agrmt.txt": ("fr", 100),
    "clams/he_evalset.prep_anim.txt": ("he", 100), "li_adger/li-adger_min_pairs.csv": ("en", 40),
    "li_adger/human_ME_results.csv": ("en", 40), "lindsea/id.NPIs_and_negation.jsonl": ("id", 20),
    "lindsea/ta.NPIs_and_negation.jsonl": ("ta", 10), "qfrblimp/qfrblimp_dev.jsonl": ("fr-CA", 40),
    "rublimp/add_verb_prefix.csv": ("ru", 100), "rublimp/anaphor_agreement_gender.csv": ("ru", 100),
    "scamp/recursion_intensifier_adj_1.tsv": ("und", 40), "sling/baseline_cl_female.jsonl": ("zh", 120),
    "sling/haishi_ma.jsonl": ("zh", 120), "turblimp/augmented_anaphor_agreement.csv": ("tr", 150),
    "turblimp/augmented_island_effects.csv": ("tr", 150),
    "zorro/agreement_determiner_noun-between_neighbors.txt": ("en", 100),
    "zorro/anaphor_agreement-pronoun_gender.txt": ("en", 100),
}  # fmt: skip


def test_the_page_is_current() -> None:
    assert page.PAGE.read_text(encoding="utf-8") == page.page(), "run `python -m tools.datasets`"
    assert {each.tried for each in datasets.listed()} == set(datasets.TRIED)


@pytest.mark.parametrize("name", SAMPLES)
def test_each_published_sample_is_read_as_it_is_in_its_language(shared: Path, name: str) -> None:
    [suite] = read_suite_file(shared / "data" / "minimal_pairs" / name)
    assert (suite.language.tag, len(suite.items)) == SAMPLES[name]


def test_what_is_no_table_of_pairs_is_refused(shared: Path) -> None:
    with pytest.raises(SyntagmError, match=r"0 of 40 rows are two sentences"):
        read_suite_file(shared / "data" / "minimal_pairs" / "scamp" / "priming_short.tsv")


def test_a_language_is_named_by_an_option_a_column_or_the_dataset(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("good,bad,lang\nIda singt.,Ida singen.,deu\n")
    assert read_suite_file(path)[0].language.tag == "de"
    [suite] = read_suite_file(f"{path}?language=pt_br")
    assert (suite.language.tag, suite.language.name) == ("pt-BR", "Portuguese")
    with pytest.raises(UsageError, match="'klingonisch'; expected a tag of BCP 47"):
        read_suite_file(f"{path}?language=klingonisch")
    assert read_suite_file(DATA / "pairs/typed.tsv")[0].language.tag == "und"


def test_a_language_applies_to_what_a_folder_has(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("good\tbad\nIda singt.\tIda singen.\n")
    (tmp_path / "notes.txt").write_text("Ida singt.\n")
    [file] = expand([f"{tmp_path}?language=de"])
    assert read_suite_file(file)[0].language.tag == "de"


def test_a_language_that_the_dataset_tells_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "zhoblimp.jsonl"
    path.write_text('{"sentence_good": "他爱自己。", "sentence_bad": "自己爱他。", "UID": "a"}\n', encoding="utf-8")
    suites = read_suite_file(path)
    assert suites[0].language.tag == "zh"
    assert "language" not in published(suites[0]).tags
    convert(suites, tmp_path / "copy.jsonl", ["blimp"])
    assert (tmp_path / "copy.jsonl").read_bytes() == path.read_bytes()


def test_pairs_that_a_reliable_model_gets_clearly_wrong_may_be_swapped() -> None:
    items = tuple(Item(str(number), {"good": Sentence("a"), "bad": Sentence("b")}) for number in range(12))
    suite = Suite("s", items, ())
    margins = [4.0] * 5 + [2.0] * 4 + [-1.0, -4.0, float("nan")]
    # 9 of 11 are right; the median of the right ones is 4 bits, so only the item at -4 is as clearly wrong.
    assert [(each.code, each.item) for each in swapped(suite, margins, "M")] == [("W405", "10")]
    [whole] = swapped(suite, [-margin for margin in margins], "M")
    assert (whole.item, "0.82 of 11 pairs" in whole.message) == ("", True)
    assert swapped(suite, [1.0, -5.0] * 6, "M") == []
    assert swapped(suite, [4.0] * 8 + [-4.0] + [float("nan")] * 3, "M") == []
