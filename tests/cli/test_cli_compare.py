import json
from dataclasses import replace
from pathlib import Path

import pytest
from toy_runs import FULL, agreement, interrupt, pairs, toy_run

from syntagm.cli import main
from syntagm.core import RunError
from syntagm.evaluation import Group
from syntagm.runs import open_run
from syntagm.suites import Item, Prediction, Region, Sentence, Suite, parse
from syntagm.views import by_name, compare

# In this text "barks" and "bark" follow "dog" 1 and 0 times, "cat" 1 and 0, "bird" 0 and 1: with one added to each, the
# margins are log2(2 / 1) = 1, 1 and -1 bits. Against the toy model, item 2 (cat) flips; item 3 (bird) was a tie.
OTHER = "the dog barks\nthe bird bark\nthe cats bark\nthe cat barks\n"
PAIRS = (("the dog barks", "the dog bark"), ("a dog", "a dog"))


@pytest.fixture
def folders(tmp_path):
    (tmp_path / "other.txt").write_text(OTHER)
    a, b = tmp_path / "a", tmp_path / "b"
    toy_run(a, agreement(), agreement("again", ("dog", "cat")), pairs("pairs", *PAIRS), agreement("changed", ("dog",)))
    toy_run(
        b,
        *(agreement(), agreement("again", ("dog", "cat")), pairs("pairs", *PAIRS), agreement("changed", ("cat",))),
        pairs("only_in_b", *PAIRS),
        model=f"toy:{tmp_path / 'other.txt'}",
    )
    return str(a), str(b)


def test_the_table_has_each_shared_suite_and_the_rest_is_named(folders, capsys):
    assert main(["compare", *folders]) == 0
    out, err = capsys.readouterr()
    lines = [line.split() for line in out.splitlines()]
    # Accuracies 1/3 and 2/3, and 1/2 and 1, with Wilson's intervals.
    third, half, ones = ["[0.061,", "0.792]"], ["[0.095,", "0.905]"], ["[0.342,", "1.000]"]
    agreement_line, again = (next(line for line in lines if line[:1] == [name]) for name in ("agreement", "again"))
    assert agreement_line[:5] == ["agreement", "3", "0.333", *third]
    assert agreement_line[8] == "+0.333"
    assert agreement_line[11:] == ["↑1", "↓0", "1,", "0", "0.952"]
    assert again[:8] == ["again", "2", "0.500", *half, "1.000", *ones]
    # Mean of the three differences: (1/3 + 1/2 + 0) / 3 = 0.278.
    mean = next(line for line in lines if line[:3] == ["mean", "of", "3"])
    assert mean[3] == "7"
    assert mean[10] == "+0.278"
    assert "changed" in err
    assert "DIFFERENT CONTENT" in err
    assert "suite only_in_b: only in" in err
    assert "changed" not in out


def test_a_folder_of_two_runs_stands_for_both(folders, tmp_path, capsys):
    assert main(["compare", str(tmp_path)]) == main(["compare", *folders]) == 0
    out = capsys.readouterr().out
    assert out[: len(out) // 2] == out[len(out) // 2 :]
    assert main(["compare", str(tmp_path), folders[0]]) == main(["compare", folders[0]]) == 2
    messages = capsys.readouterr().err.splitlines()
    assert "compare: 3 runs (" in messages[-2]
    assert f"compare: 1 run ({folders[0]}); expected two. `syntagm report` compares any number" in messages[-1]


def test_both_signatures_come_first(folders, capsys):
    main(["compare", *folders])
    first, second = capsys.readouterr().out.splitlines()[:2]
    assert first.startswith("A  12-sentences|toy|bos:yes")
    assert second.startswith("B  other.txt@")
    assert "|3 suites|first|sum|syntagm:" in first


def test_flips_are_listed_up_to_a_number(folders, capsys):
    main(["compare", *folders, "--flips", "1"])
    out = capsys.readouterr().out
    # cat: -1 bit under A, +1 under B.
    assert ["agreement", "2", "verb", "↑", "-1.000", "+1.000"] in [line.split() for line in out.splitlines()]
    assert "1 of 2 discordant items" in out
    main(["compare", *folders, "--flips", "all"])
    out = capsys.readouterr().out
    assert ["again", "2", "verb", "↑", "-1.000", "+1.000"] in [line.split() for line in out.splitlines()]
    main(["compare", *folders, "--flips", "0"])
    assert "↑ " not in capsys.readouterr().out.partition("discordant items")[2]


@pytest.mark.slow
def test_flips_by_the_first_predictions_have_their_names(folders, tmp_path):
    suites = agreement(), replace(agreement("whole"), predictions=(FULL,))
    toy_run(tmp_path / "c", *suites)
    toy_run(tmp_path / "d", *suites, model=f"toy:{tmp_path / 'other.txt'}")
    runs = [str(tmp_path / "c"), str(tmp_path / "d")]
    assert main(["compare", *runs, "-o", str(tmp_path / "flips.csv")]) == 0
    rows = [line.split(",")[:3] for line in (tmp_path / "flips.csv").read_text().splitlines()[1:]]
    assert rows == [["agreement", "2", "verb"], ["whole", "2", "full_sentence"]]
    table = by_name.table("discordant", [open_run(folder) for folder in runs]).to_frame()
    assert table["measure"].to_list() == ["verb", "full_sentence"]


def test_flips_as_csv(folders, capsys, tmp_path):
    assert main(["compare", *folders, "--measure", "verb", "-o", str(tmp_path / "flips.csv")]) == 0
    header, *rows = (tmp_path / "flips.csv").read_bytes().decode().split("\n")
    assert header == "suite,item,measure,value_a,value_b,margin_a,margin_b"
    assert [row.split(",")[:5] for row in rows] == [
        ["agreement", "2", "verb", "0", "1"],
        ["again", "2", "verb", "0", "1"],
        [""],
    ]
    assert "suite pairs: it has no measure verb" in capsys.readouterr().err


def test_json_holds_the_numbers(folders, capsys):
    main(["compare", *folders, "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["a"]["model"] == "toy:12-sentences"
    assert found["overall"]["difference"]["value"] == pytest.approx((1 / 3 + 1 / 2 + 0) / 3)
    assert [one["group"]["suite"] for one in found["suites"]] == ["agreement", "again", "pairs"]
    assert len(found["flips"]) == 2


def test_json_has_null_for_what_is_not_a_number(tmp_path, capsys):
    toy_run(tmp_path / "a", agreement(nouns=("dog",)))
    main(["compare", str(tmp_path / "a"), str(tmp_path / "a"), "--json"])
    [suite] = json.loads(capsys.readouterr().out)["suites"]
    # One item has no interval.
    assert (suite["difference"]["value"], suite["difference"]["low"]) == (0.0, None)


def test_a_model_does_not_differ_from_itself(folders, capsys):
    main(["compare", folders[0], folders[0]])
    out = capsys.readouterr().out
    # Of suites as a whole, equal models show no spread; of 3 items on a suite, 0 differences say little.
    assert "difference, B - A: p = 1; mean of 4 suites; no interval: no spread" in out
    assert "0.000 [-0.561, +0.561]" in out
    assert "margin A" not in out  # no list of discordant items


def test_one_item_has_no_interval_and_the_reason_is_shown(tmp_path, capsys):
    toy_run(tmp_path / "a", agreement(nouns=("dog",)))
    main(["compare", str(tmp_path / "a"), str(tmp_path / "a")])
    out = capsys.readouterr().out
    assert "+0.000 [" not in out
    assert "no interval: fewer than two items" in out


def test_all_joins_the_predictions(folders):

    found = compare(*map(open_run, folders), "all")
    assert [one.b.value for one in found.suites] == [2 / 3, 1.0, 1 / 2]
    assert found.overall.group == Group(measure="all")


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (
            ["--measure", "two_prefix"],
            "--measure: no suite has a measure 'two_prefix'; expected one of verb, full_sentence",
        ),
        (["--flips", "-1"], "--flips: '-1'; expected a whole number from 0 to 1,000,000,000,000, or `all`"),
        (["--flips", "9" * 5000], "999; expected a whole number"),
        (["-o", "/proc/flips.csv"], "can't be written"),
    ],
)
def test_what_can_t_be_done_is_refused(folders, capsys, extra, message):
    assert main(["compare", *folders, *extra]) == 2
    assert message in capsys.readouterr().err


def test_no_common_suite_is_an_error(tmp_path, capsys):
    for name, suite in (("a", agreement("one")), ("b", agreement("two"))):
        toy_run(tmp_path / name, suite)
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b")]) == 2
    printed = capsys.readouterr().err
    assert "no suite with the same content in both" in printed
    assert "To see them side by side anyway, use `syntagm report`." in printed


def test_a_missing_folder_is_an_error(tmp_path, capsys):
    assert main(["compare", str(tmp_path / "no"), str(tmp_path / "no")]) == 2
    assert "no run.json" in capsys.readouterr().err


def test_an_unfinished_run_is_named(folders):
    from syntagm.runs import Run, open_run

    first, second = map(open_run, folders)
    second.done = False
    assert any("is not finished" in sentence for sentence in compare(first, second).skipped)
    empty = [Run(run.folder, run.record, {}) for run in (first, second)]
    with pytest.raises(RunError, match="no results"):
        compare(*empty)


def test_markup_in_names_is_shown_as_it_is(tmp_path, capsys):
    (tmp_path / "other.txt").write_text(OTHER)
    items = tuple(replace(item, id=f"[red]{item.id}[/red]") for item in agreement().items)
    suite = replace(agreement(), items=items)
    for name, model in (("a", "toy"), ("b", f"toy:{tmp_path / 'other.txt'}")):
        toy_run(tmp_path / name, suite, model=model)
    main(["compare", str(tmp_path / "a"), str(tmp_path / "b")])
    assert "[red]2[/red]" in capsys.readouterr().out


def test_an_unfinished_run_falls_short(folders, capsys):
    interrupt(Path(folders[1]), 2)
    assert main(["compare", *folders]) == 1
    assert "is not finished" in capsys.readouterr().err


def test_p_is_adjusted_over_the_suites(tmp_path, capsys):
    (tmp_path / "other.txt").write_text(OTHER)
    cats, birds = agreement("cats", ("cat",) * 7), agreement("birds", ("bird",) * 3)
    toy_run(tmp_path / "a", cats, birds)
    toy_run(tmp_path / "b", cats, birds, model=f"toy:{tmp_path / 'other.txt'}")
    main(["compare", str(tmp_path / "a"), str(tmp_path / "b"), "--json"])
    first, second = json.loads(capsys.readouterr().out)["suites"]
    # Seven flips to b of seven items: p of the exact test, 2 / 2**7, times two suites.
    # Birds tie under a and fail under b: no flip, p = 1.
    assert (first["p"], first["p_holm"], first["p_bh"]) == pytest.approx((0.015625, 0.03125, 0.03125), abs=1e-6)
    assert (second["p"], second["p_holm"], second["p_bh"]) == (1.0, 1.0, 1.0)
    main(["compare", str(tmp_path / "a"), str(tmp_path / "b"), "--flips", "0"])
    out = capsys.readouterr().out
    assert "p (Holm)" in out
    assert [line.split()[-1] for line in out.splitlines() if line.split()[:1] == ["cats"]] == ["0.031"]
    assert "adjusted over the suites by Holm" in out


def test_a_suite_without_a_defined_item_is_no_test(tmp_path, capsys):
    # The border lies within a word, so the region has no bits of its own.
    halves = {
        name: Sentence(f"The dog {verb}", (Region("1", 0, 6), Region("2", 6, 8 + len(verb))))
        for name, verb in (("good", "barks"), ("bad", "bark"))
    }
    crossing = Suite("crossing", (Item("1", halves),), (Prediction("verb", parse("(2;%good%) < (2;%bad%)")),))
    toy_run(tmp_path / "a", crossing, agreement())
    main(["compare", str(tmp_path / "a"), str(tmp_path / "a"), "--json"])
    first, second = json.loads(capsys.readouterr().out)["suites"]
    assert (first["difference"]["n"], first["p_holm"], second["p_holm"]) == (0, None, 1.0)
    main(["compare", str(tmp_path / "a"), str(tmp_path / "a")])
    assert "no test" in capsys.readouterr().out


@pytest.mark.slow
def test_effects_are_compared_in_bits(folders, capsys):
    assert main(["compare", *folders, "--effects"]) == 0
    out = capsys.readouterr().out
    # Margins of verb: log2(3), -1 and 0 bits under A, 1, 1 and -1 under B.
    line = next(line for line in out.splitlines() if line.startswith("  agreement") and "2: bad − good" in line)
    assert line.split()[1] == "verb"
    assert line.split()[6:9] == ["3", "+0.195", "+0.333"]
    # The comparisons of each prediction are shown, not only those of the first; `--measure` chooses one.
    assert "full_sentence" in out
    assert main(["compare", *folders, "--effects", "--measure", "verb"]) == 0
    assert "full_sentence" not in capsys.readouterr().out
    assert main(["compare", *folders, "--effects", "--json"]) == 0
    effects = json.loads(capsys.readouterr().out)["effects"]
    assert (effects[0]["suite"], effects[0]["comparison"]) == ("agreement", "(2;%good%) < (2;%bad%)")
    assert effects[0]["difference"] == pytest.approx(effects[0]["effect_b"] - effects[0]["effect_a"])
    assert main(["compare", *folders, "--json"]) == 0
    assert "effects" not in json.loads(capsys.readouterr().out)


def test_the_version_of_the_test_and_why_there_is_no_d_are_said(folders, capsys):
    assert main(["compare", folders[0], folders[0], "--effects"]) == 0
    out = capsys.readouterr().out
    assert "McNemar's asymptotic test without continuity correction" in out
    assert "all items have the same difference, in 5 of 7 rows." in out
