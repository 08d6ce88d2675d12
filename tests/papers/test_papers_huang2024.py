"""Huang et al. 2024, from small data in the published layout, and from the published data where they are at hand."""

import gzip
from pathlib import Path

import pytest

from syntagm.cli import main
from syntagm.core import InputError
from syntagm.papers import paper as papers
from syntagm.papers.huang2024 import reproduce

SENTENCES = {"UNAGREE": "If dogs bark the cats runs away now.", "AGREE": "If dogs bark the cat runs away now."}
BITS = {"UNAGREE": (3, 1, 0), "AGREE": (1, 1, 0)}


def published(folder: Path) -> Path:
    """Write two items, the critical word of which is the sixth, and the times of two people."""
    lines = ["item,condition,disambPosition,disambPosition_0idx,token,word,word_pos,sum_surprisal,sum_surprisal_base2"]
    for item in (1, 2):
        for condition, sentence in SENTENCES.items():
            for place, word in enumerate(sentence.split()):
                bits = BITS[condition][place - 5] + item if 5 <= place <= 7 else 9
                # The column that says that it counts from 0 has the same number as the one that counts from 1.
                lines.append(f"{item},{condition},6,6,{word},{word},{place},{bits * 0.693},{bits}")
    (folder / "items_Agreement.gpt2.csv").write_text("\n".join(lines))
    trials = ["participant,List,item,CONSTRUCTION,AMBIG,pGram,ROI,WordPosition,EachWord,RT,trialnumber,correct"]
    for person in (1, 2, 3):
        for item in (1, 2, 3):
            for ambiguous in (True, False):
                for region in (0, 1):
                    time = 300 + 10 * person + (50 if ambiguous and region == 1 else 0) + item
                    name, gram = ("Amb", "U") if ambiguous else ("Unamb", "G")
                    trials.append(f"{person},a,{item},NPZ,{name},{gram},{region},{region + 6},w{region},{time},1,1")
    (folder / "trials_Agreement.csv.gz").write_bytes(gzip.compress("\n".join(trials).encode()))
    (folder / "fitted").mkdir()
    for ending, numbers in (("", "48,40,60"), ("_gpt2", "12,10,14")):
        text = f"ROI,coef,mean,lower,upper\n1.0,GPE_NPZ,{numbers}\n"
        (folder / "fitted" / f"ClassicGP.by_construction{ending}.csv").write_text(text)
    return folder


def test_tables_of_small_data(tmp_path: Path) -> None:
    found = reproduce.from_raw(reproduce.read(published(tmp_path)))
    surprisal = {(row[1], row[2]): row[3:5] for row in found["surprisal"].rows}
    assert surprisal == {("agreement", "0"): (2, 2.0), ("agreement", "1"): (2, 0.0), ("agreement", "2"): (2, 0.0)}
    people = {row[1]: row[4:] for row in found["people"].rows}
    assert people["0"][0] == 0
    assert people["1"][0] == 50
    assert people["1"][3:] == (48, 40, 60, "yes")
    assert [(row[2], row[3], row[6]) for row in found["predicted"].rows] == [("people", 48, None), ("GPT-2", 12, 0.25)]


@pytest.mark.slow
def test_what_is_missing_is_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lacking = reproduce.missing(reproduce.read(published(tmp_path)))
    assert "no surprisals of Agreement by lstm" in lacking
    assert lacking[-1].startswith("no reading times of fillers")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="none of the files"):
        reproduce.read(tmp_path / "empty")
    assert main(["reproduce", "huang2024", "--from-raw", str(tmp_path), "-o", str(tmp_path / "out"), "--strict"]) == 1
    assert "incomplete raw data: no reading times of fillers" in capsys.readouterr().err


@pytest.mark.slow
def test_the_published_data(shared: Path) -> None:
    """Differences in surprisal as printed; the effects of people by plain means are inside the published intervals."""
    paper = papers.find("huang2024")
    found = paper.from_raw(paper.read(shared / "data" / "reading" / "sap"))
    quoted = [(row[4], row[7]) for row in found["surprisal"].rows if row[7] is not None]
    assert len(quoted) == 6
    assert all(abs(ours - theirs) <= 0.0051 for ours, theirs in quoted)
    people = {row[:2]: row for row in found["people"].rows}
    assert round(people["NP/Z Agreement", "1"][4], 1) == 58.3
    assert round(people["NPZ", "1"][4], 1) == 149.1
    assert {row[-1] for row in people.values()} == {"yes"}
    predicted = {row[:3]: round(row[3], 1) for row in found["predicted"].rows}
    for name, own, by_surprisal in (("MVRR", 202.1, 7.1), ("NPZ", 150.2, 8.6), ("NPS", 63.9, 5.5)):
        assert (predicted[name, "1", "people"], predicted[name, "1", "GPT-2"]) == (own, by_surprisal)
