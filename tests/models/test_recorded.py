"""Answers replayed from a file."""

import os
from pathlib import Path

import numpy as np
import pytest

from syntagm.core import ModelError, UsageError, csv
from syntagm.models import Recorded, names

HEADER = "index,start,token,bits,known\n"
DOG = "0,0,the,2.5,1\n1,3, dog,3,1\n"


def written(folder: Path, text: str, name: str = "tokens.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def load(folder: Path, text: str, options: str = "") -> Recorded:
    model = names.load(f"recorded:{written(folder, text)}{options}")
    assert isinstance(model, Recorded)
    return model


def test_tokens_make_the_text(tmp_path: Path) -> None:
    [answer] = load(tmp_path, HEADER + DOG).score(["the dog"])
    assert answer.starts.tolist() == [0, 3]
    assert answer.bits.tolist() == [2.5, 3.0]
    assert answer.in_vocabulary.all()


def test_unknown_words_and_end_symbols_and_shared_characters(tmp_path: Path) -> None:
    rows = "0,0,,1,1\n1,0,é,2,1\n2,1, zq,9,0\n3,4,,0.5,1\n"
    [answer] = load(tmp_path, HEADER + rows).score(["é zq"])
    assert answer.starts.tolist() == [0, 0, 1, 4]
    assert answer.in_vocabulary.tolist() == [True, True, False, True]


@pytest.mark.parametrize(
    "token", ['a"b', "a,b", "a\nb", "a\r\nb", "a\u2028b", "a\x0cb", "a\x85b", "=1+1", " \tx", "雪\U0001f600"]
)
def test_whatever_the_export_writes_comes_back(tmp_path: Path, token: str) -> None:
    rows = [(0, 0, "x", 1.25, True), (1, 1, token, 0.1, False)]
    text = "".join(csv.lines(["index", "start", "token", "bits", "known"], rows))
    [answer] = load(tmp_path, text).score([f"x{token}"])
    assert answer.bits.tolist() == [1.25, 0.1]


ZOO = "sentence_id\ttoken_id\ttoken\tsurprisal\n"


class TestLmZoo:
    """What `lm-zoo get-surprisals` writes."""

    def zoo(self, folder: Path, rows: str, options: str = "") -> Recorded:
        model = names.load(f"recorded:{written(folder, ZOO + rows, 'zoo.txt')}{options}")
        assert isinstance(model, Recorded)
        return model

    def test_tokens_of_a_byte_level_tokenizer(self, tmp_path: Path) -> None:
        # U+2019 is the bytes E2 80 99, which such a tokenizer writes as the letters of these codes.
        rows = (
            "1\t1\tThe\t0.000000\n1\t2\tĠoar\t12.5\n1\t3\tâĢ\t2\n1\t4\tĻ\t3\n1\t5\ts\t.5\n2\t1\tOars\t0.0\n2\t2\t.\t5\n"
        )
        model = self.zoo(tmp_path, rows)
        first, second = model.score(["The oar\u2019s", "Oars."])
        assert first.starts.tolist() == [0, 3, 7, 7, 8]
        assert np.array_equal(first.bits, [np.nan, 12.5, 2.0, 3.0, 0.5], equal_nan=True)
        assert second.starts.tolist() == [0, 4]
        # Nothing was said of first tokens, so there is no start symbol, and the name and the signature say so.
        assert (model.bos, model.settings["bos"], model.name[-7:]) == (None, "no", "?bos=no")
        with pytest.raises(ModelError, match="no first token has a surprisal"):
            self.zoo(tmp_path, rows, "?bos=yes")

    @pytest.mark.parametrize("tokens", [("The", "oar", "sinks", "."), ("▁The", "▁oar", "▁sinks", "▁.")])
    def test_words_and_pieces(self, tmp_path: Path, tokens: tuple[str, ...]) -> None:
        model = self.zoo(tmp_path, "".join(f"7\t{k}\t{token}\t{k}\n" for k, token in enumerate(tokens, 1)))
        [answer] = model.score(["The oar sinks ."])
        assert (answer.starts.tolist(), answer.bits.tolist(), model.settings["bos"]) == (
            [0, 3, 7, 13],
            [1, 2, 3, 4],
            "yes",
        )

    def test_the_end_symbol_is_no_word(self, tmp_path: Path) -> None:
        model = self.zoo(tmp_path, "1\t1\toars\t0\n1\t2\tsink\t3\n1\t3\t<eos>\t.5\n2\t1\tOars\t0\n2\t2\tsank\t4\n")
        assert [answer.bits[1:].tolist() for answer in model.score(["oars sink", "Oars sank"])] == [[3.0], [4.0]]

    def test_damaged_rows_are_refused(self, tmp_path: Path) -> None:
        for rows, message in (
            ("1\t1\tThe\n", "line 2: a row with other cells"),
            ("1\t1\tThe\tx\n", "line 2: .*bits 'x'"),
        ):
            with pytest.raises(ModelError, match=message):
                self.zoo(tmp_path, rows)
        with pytest.raises(ModelError, match="no tokens"):
            self.zoo(tmp_path, "")


def test_a_text_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="nothing recorded for 'the cat'"):
        list(load(tmp_path, HEADER + DOG).score(["the dog", "the cat"]))


def test_the_same_sentence_twice(tmp_path: Path) -> None:
    assert len(list(load(tmp_path, HEADER + DOG + DOG).score(["the dog"]))) == 1
    with pytest.raises(ModelError, match="line 5: other tokens or bits for 'the dog'"):
        load(tmp_path, HEADER + DOG + DOG.replace("2.5", "2.6"))
    with pytest.raises(ModelError, match="other tokens or bits"):
        load(tmp_path, HEADER + DOG + "0,0,the dog,5.5,1\n")


def test_first_tokens_that_were_not_scored(tmp_path: Path) -> None:
    rows = HEADER + DOG.replace("2.5", "nan")
    with pytest.raises(ModelError, match="bos=no"):
        load(tmp_path, rows)
    model = load(tmp_path, rows, "?bos=no")
    assert model.bos is None
    assert np.isnan(next(model.score(["the dog"])).bits[0])
    assert model.fingerprint != load(tmp_path, HEADER + DOG).fingerprint


def test_several_models_in_one_file(tmp_path: Path) -> None:
    text = "model,index,start,token,bits\na,0,0,x,1\nb,0,0,x,2\n"
    with pytest.raises(ModelError, match="2 models"):
        load(tmp_path, text)
    for name, bits in (("a", 1.0), ("b", 2.0)):
        assert next(load(tmp_path, text, f"?model={name}").score(["x"])).bits.tolist() == [bits]
    with pytest.raises(ModelError, match="no tokens of model 'c'"):
        load(tmp_path, text, "?model=c")


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "no column"),
        ("index,start,token\n", "no column 'bits'"),
        (HEADER, "no tokens"),
        (HEADER + "0,0,the,2.5\n", "line 2: 4 cells; expected 5 as in the header"),
        (HEADER + "0,0,the,2.5,1,9\n", "line 2: 6 cells"),
        (HEADER + "0,0,the,many,1\n", "line 2"),
        (HEADER + "zero,0,the,1,1\n", "line 2"),
        (HEADER + "1,0,the,1,1\n", "index 1; expected 0"),
        (HEADER + "0,0,the,1,1\n2,3, dog,1,1\n", "index 2; expected 1"),
        (HEADER + "0,1,the,1,1\n", "starts"),
        (HEADER + "0,0,the,1,1\n1,4,dog,1,1\n", "starts"),
        (HEADER + "0,99999999999999999999,the,1,1\n", "starts"),
        (HEADER + '0,0,"the,1,1\n', "can't be read"),
        (HEADER + '0,0,"the"x,1,1\n', "can't be read"),
        (HEADER + f"0,0,{'x' * 200_000},1,1\n", "can't be read"),
    ],
    ids=range(15),
)
def test_files_that_are_not_what_they_should_be(tmp_path: Path, text: str, match: str) -> None:
    with pytest.raises(ModelError, match=match):
        load(tmp_path, text)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "latin.csv").write_bytes(b"caf\xe9")
    places = {"absent.csv": "no such file", "latin.csv": "which is not UTF-8", ".": "a folder"}
    for path, found in ((tmp_path / name, found) for name, found in places.items()):
        with pytest.raises(ModelError, match=found):
            names.load(f"recorded:{path}")


def test_options_that_it_does_not_have(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="dtype"):
        load(tmp_path, HEADER + DOG, "?dtype=f32")


def test_a_masked_model_sees_both_sides_when_it_is_replayed_too(tmp_path: Path) -> None:
    header = HEADER.replace("\n", ",model\n")
    rows = DOG.replace("1\n", "1,NAME\n")
    for name, sides, regions in (
        ("masked:bert@1?masking=token", "both", "no"),
        ("masked:bert@1?masking=token&regions=yes", "both", "yes"),
        ("recorded:a.csv@1?regions=no&sides=both", "both", "no"),
        ("gpt2", None, None),
    ):
        model = load(tmp_path, header + rows.replace("NAME", name))
        assert (model.settings.get("sides"), model.settings.get("regions")) == (sides, regions)
        assert model.sees == ("left" if sides is None else "both")
    # In the name, so that the tokens of a replay say it again.
    assert load(tmp_path, header + rows.replace("NAME", "masked:b?masking=token")).name.endswith(
        "?regions=no&sides=both"
    )
    assert load(tmp_path, HEADER + DOG, "?sides=both").sees == "both"
    with pytest.raises(UsageError, match="sides"):
        load(tmp_path, HEADER + DOG, "?sides=right")


@pytest.mark.parametrize("family", ["recorded", "toy", "ngram"])
def test_a_file_without_end_is_refused_at_once(family: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with open(tmp_path / "sparse", "wb") as file:
        file.truncate(2**40)
    for path in ("/dev/zero", tmp_path / "pipe"):
        with pytest.raises(ModelError, match=r"not a (regular )?file"):
            names.load(f"{family}:{path}")
    if family != "ngram":  # read as it comes, in lines of limited length
        with pytest.raises(ModelError, match=r"more than .* MB"):
            names.load(f"{family}:{tmp_path / 'sparse'}")
