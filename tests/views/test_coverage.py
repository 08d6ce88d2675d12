"""Coverage: unknown tokens and parts of characters, with a tiny byte-level model; and languages in tables and notes."""

from pathlib import Path

import pytest
from models_for_tests import byte_level, causal

import syntagm as sg
from syntagm.cli import main
from syntagm.views import coverage, groups

TEXTS = {
    "en": ("The kite flies.", "The kite fly."),
    "zh": ("他爱自己。", "自己爱他。"),
    "ta": ("அவன் வந்தான்.", "அவன் வந்தாள்."),
}


def suites(folder: Path) -> list[str]:
    for tag, (good, bad) in TEXTS.items():
        (folder / f"{tag}.tsv").write_text(f"good\tbad\n{good}\t{bad}\n", encoding="utf-8")
    return [f"{folder / tag}.tsv?language={tag}" for tag in TEXTS]


def test_parts_of_characters_are_counted_and_said(tmp_path: Path) -> None:
    tokenizer = byte_level()
    run = sg.evaluate(causal("gpt2", tokenizer), sg.read_suites(*suites(tmp_path)))
    table = coverage.make_table([run])
    rows = {row[1]: dict(zip(coverage.COLUMNS, row, strict=True)) for row in table.rows}
    for tag, texts in TEXTS.items():
        tokens = sum(len(tokenizer(text, add_special_tokens=False)["input_ids"]) for text in texts)
        assert (rows[tag]["language"], rows[tag]["tokens"], rows[tag]["unknown"]) == (tag, tokens, 0.0)
        assert rows[tag]["characters per token"] == pytest.approx(sum(map(len, texts)) / tokens)
    # Learnt from English, the tokenizer has no whole letter of the two other scripts: three bytes each, but for spaces.
    assert (rows["en"]["parts"], rows["zh"]["parts"]) == (0.0, 1.0)
    assert len(table.warnings) == len(coverage.remarks([run])) == 2
    by_language = groups.make_table([run], by="language")
    assert [row[1] for row in by_language.rows] == ["en", "zh", "ta"]
    assert [row[0] for row in groups.make_table([run]).rows] == ["language"] * 3


@pytest.mark.slow
def test_a_run_says_that_a_model_hardly_knows_a_script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "demo", "--suite", *suites(tmp_path), "-o", str(tmp_path / "run")]) == 0
    noted = capsys.readouterr().err
    assert "note: causal:demo hardly knows the script of zh: 100% of its tokens are unknown or parts of" in noted
    assert "script of en" not in noted


@pytest.mark.slow
def test_every_published_sample_is_scored_by_language(shared: Path) -> None:
    """All samples with a tiny byte-level model: the counts are those of the files."""
    folders = [str(path) for path in sorted((shared / "data" / "minimal_pairs").iterdir()) if path.is_dir()]
    names = [name for name in folders if not name.endswith(("li_adger", "scamp"))]
    found = sg.read_suites(*names)
    run = sg.evaluate(causal("gpt2", byte_level()), found, limit=2)
    rows = groups.make_table([run], by="language").rows
    expected: dict[str, int] = {}
    for suite in found:
        expected[suite.language.tag] = expected.get(suite.language.tag, 0) + 1
    assert {row[1]: row[3] for row in rows} == expected
    assert set(expected) == {"hi", "nl", "en", "de", "fr", "he", "id", "ta", "fr-CA", "ru", "zh", "tr"}
