"""The toy corpus: discounts, counts, rows and scores as KenLM's lmplz and query give them."""

import json
from pathlib import Path

import numpy as np
import pytest
from ngrams_for_tests import trained

from syntagm.models import BackOff
from syntagm.models.ngram.model import BITS

ROWS = {
    "<unk>": (-1.5928829, 0),
    "<s>": (0, -0.7926119),
    "</s>": (-1.4807312, 0),
    "the": (-0.9913022, -0.40091318),
    "author": (-1.4640667, -0.16481024),
    "near": (-1.2984425, -0.46919394),
    "laughs": (-1.4807312, -0.26339385),
    "said": (-1.4640667, -0.28851345),
    ".": (-0.9913022, -0.71223193),
}
BIGRAMS = {("<s>", "</s>"): -1.640677, ("laughs", "</s>"): -1.0905355, (".", "</s>"): -0.09021531}
# Log10 p of each word and the end of the sentence, and the words of the n-gram found, oldest first.
SCORES = {
    3: {
        "the author near the guards laughs .": "-0.111067/2 -0.483035/3 -1.029395/3 -0.137468/3 -0.764244/3 -0.768728/3 "
        "-0.373123/3 -0.058098/3",
        "no author that the guards like has ever laughed .": "-1.161841/2 -0.593215/3 -1.826278/1 -0.226545/2 -0.657800/3 "
        "-0.763995/3 -1.925311/1 -0.232889/2 -0.362659/3 -0.161447/3 -0.043248/3",
        "the senator likes the door .": "-0.111067/2 -2.170350/1 -1.464067/1 -0.756792/2 -1.153985/2 -0.340506/3 -0.043248/3",
        "laughs the": "-2.273343/1 -1.254696/1 -1.881644/1",
        "": "-1.640677/2",
    },
    5: {
        "the author near the guards laughs .": "-0.111067/2 -0.493828/3 -0.573175/4 -0.026033/5 -0.274013/5 -0.189539/5 "
        "-0.320690/5 -0.020858/5",
        "no author that the guards like has ever laughed .": "-1.161841/2 -0.664372/3 -2.063796/1 -0.226545/2 -0.674744/3 "
        "-0.220999/4 -2.348161/1 -0.232889/2 -0.373214/3 -0.069201/4 -0.015833/5",
        "the senator likes the door .": "-0.111067/2 -2.117181/1 -1.464067/1 -0.756792/2 -1.090473/2 -0.320802/3 -0.032265/4",
    },
}
TOTALS = {
    3: {
        "the author near the guards laughs .": -3.725159,
        "the author near the guards laugh .": -3.696264,
        "no author that the guards like has ever laughed .": -7.955228,
        "the senator likes the door .": -6.040014,
        "laughs the": -5.409683,
        "": -1.640677,
    },
    5: {
        "the author near the guards laughs .": -2.009204,
        "the author near the guards laugh .": -3.112985,
        "no author that the guards like has ever laughed .": -8.051595,
        "the senator likes the door .": -5.892648,
    },
}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[int, BackOff]:
    return {order: trained(tmp_path_factory.mktemp("toy"), order=order) for order in (2, 3, 4, 5)}


def statistics(folder: Path, order: int, **options: object) -> dict[str, list[list[float]]]:
    trained(folder, order=order, **options)
    found = json.loads((folder / "model" / "training.json").read_text())["statistics"]
    assert isinstance(found, dict)
    return found


def test_discounts(tmp_path: Path) -> None:
    first = [0.272727, 1.48864, 2.56364]
    two, three, four = [0.684211, 0.859649, 1.35789], [0.659575, 1.01064, 2.67021], [0.763441, 0.958944, 3]
    expected = {
        2: [first, [0.451613, 1.60152, 2.27742]],
        3: [first, two, three],
        4: [first, two, four, [0.777778, 1.80556, 3]],
        5: [first, two, four, [0.5, 1, 1.5], [0.5, 1, 1.5]],
    }
    for order, discounts in expected.items():
        folder = tmp_path / str(order)
        folder.mkdir()
        found = statistics(folder, order)["discounts"]
        assert [pytest.approx(row, rel=1e-5) for row in discounts] == found


def test_counts_with_and_without_the_quirk(tmp_path: Path) -> None:
    found = statistics(tmp_path, 3)
    assert found["ngrams"] == [25, 58, 88]
    assert found["counts"] == [[6, 8, 5, 2], [39, 9, 5, 3], [62, 16, 8, 1]]
    # The last word to appear is `said`: 3 occurrences, after 2 different words (`author` twice, `guard` once).
    (tmp_path / "plain").mkdir()
    plain = statistics(tmp_path / "plain", 3, lmplz_compatible=False)
    assert plain["counts"][0] == [6, 9, 4, 2]
    assert plain["counts"][2] == found["counts"][2]
    assert plain["ngrams"] == [25, 58, 88]


def test_numbers_of_ngrams_at_order_5(models: dict[int, BackOff]) -> None:
    assert [len(values) for values in models[5].ngrams.probabilities] == [25, 58, 88, 97, 90]


def test_rows(models: dict[int, BackOff]) -> None:
    ngrams = models[3].ngrams
    for word, (log, backoff) in ROWS.items():
        number = ngrams.words.index(word)
        assert float(ngrams.probabilities[0][number]) == pytest.approx(log, abs=5e-7)
        assert float(ngrams.backoffs[0][number]) == pytest.approx(backoff, abs=5e-7)
    for words, log in BIGRAMS.items():
        [number] = ngrams.located(np.array([[ngrams.words.index(word) for word in words]], np.int32))
        assert float(ngrams.probabilities[1][number]) == pytest.approx(log, abs=5e-7)


@pytest.mark.parametrize("order", [3, 5])
def test_scores_and_lengths(models: dict[int, BackOff], order: int) -> None:
    model = models[order]
    ngrams = model.ngrams
    for text, shown in SCORES[order].items():
        logs, lengths = zip(*(row.split("/") for row in shown.split()), strict=True)
        [answer] = model.score([text])
        np.testing.assert_allclose(answer.bits / BITS, [float(log) for log in logs], rtol=0, atol=1e-6)
        places = np.array([ngrams.start, *model.vocabulary.ids(text.split()), 0], np.int32)
        assert ngrams.lengths(places)[1:].tolist() == [int(length) for length in lengths]


@pytest.mark.parametrize("order", [3, 5])
def test_totals(models: dict[int, BackOff], order: int) -> None:
    for answer, total in zip(models[order].score(list(TOTALS[order])), TOTALS[order].values(), strict=True):
        assert answer.bits.sum() / BITS == pytest.approx(total, abs=2e-6)


def test_perplexity_is_over_words_and_the_end(models: dict[int, BackOff]) -> None:
    [answer] = models[3].score(["the author near the guards laughs ."])
    # 7 words and the end: 10^(3.725159 / 8)
    assert 2 ** answer.bits.mean() == pytest.approx(2.921762, abs=2e-6)


def test_unknown_words_are_marked(models: dict[int, BackOff]) -> None:
    [answer] = models[3].score(["the senator likes the door ."])
    assert answer.in_vocabulary.tolist() == [True, False, True, True, True, True, True]
