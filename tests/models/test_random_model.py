"""The random model: a pure function of seed and text, drawn from the distribution that it states."""

import math
from statistics import NormalDist

import numpy as np
import pytest

from syntagm.core import UsageError
from syntagm.models import load, names
from syntagm.models.random import model as random


def bits(text: str, **options: str) -> list[float]:
    [answer] = random.load("", **options).score([text])
    return [float(one) for one in answer.bits]


def test_the_numbers_stay_what_they_were() -> None:
    # Whoever changes them must change the fingerprint.
    assert bits("The dog barks.") == [17.30685806274414, 16.47143268585205, 19.258566856384277, 15.6966552734375]


def test_bits_depend_on_the_seed_and_all_that_precedes() -> None:
    one = bits("The dog barks")
    assert bits("The dog barks at us")[:3] == one
    assert bits("The cat barks")[0] == one[0]
    assert bits("The cat barks")[2] != one[2]
    assert bits("The  dog barks")[1:] != one[1:]
    assert not set(bits("The dog barks", seed="2")) & set(one)


def test_the_unigram_sees_the_word_alone() -> None:
    first, second, again, fourth = bits("Dog barks\ndog dogs", unigram="yes")
    assert first == again
    assert len({first, second, fourth}) == 3


def test_the_distribution_is_the_stated_one() -> None:
    text = " ".join(f"w{k}" for k in range(20_000))
    drawn = np.array(bits(text))
    # Standard errors: 2 / sqrt(20,000) = 0.0141 of the mean, 2 / sqrt(40,000) = 0.01 of the deviation.
    assert abs(drawn.mean() - 16) < 3 * 0.0141
    assert abs(drawn.std() - 2) < 3 * 0.01
    # Kolmogorov-Smirnov: with 20,000 draws the distance exceeds 1.63 / sqrt(20,000) in one sample of a hundred.
    shares = [NormalDist(16, 2).cdf(one) for one in sorted(drawn)]
    assert max(abs(share - (k + 0.5) / 20_000) for k, share in enumerate(shares)) < 1.63 / math.sqrt(20_000)
    # Neighbours are not correlated: 3 standard errors of 1 / sqrt(20,000).
    assert abs(np.corrcoef(drawn[:-1], drawn[1:])[0, 1]) < 3 / math.sqrt(20_000)


def test_bits_stay_positive_at_the_ends_of_the_hash() -> None:
    # 0.5 / 2**48 = 1.8e-15 is 7.86 standard deviations below the mean: 16 - 2 x 7.86 = 0.27.
    assert random._draw(bytes(6)) == pytest.approx(0.27, abs=0.02)
    assert random._draw(b"\xff" * 6) == pytest.approx(31.73, abs=0.02)


def test_it_is_normalised_in_expectation() -> None:
    # E 2**-bits = 2**-16 exp((2 ln 2)**2 / 2), so V of them have the expected sum 1. 25,071 draws have the standard error
    # sqrt((exp((2 ln 2)**2) - 1) / 25,071) = 0.0153.
    words = round(random.VOCABULARY)
    drawn = np.array(bits(" ".join(f"w{k}" for k in range(words)), unigram="yes"))
    assert words == 25071
    assert abs((2**-drawn).sum() - 1) < 3 * 0.0153


def test_names() -> None:
    assert load("random").name == "random:normal(16,2)?seed=1"
    assert load("random?seed=007").name == load("random:normal(16,2)?seed=7").name
    assert load("random?unigram=yes&seed=3").name == "random:normal(16,2)?seed=3&unigram=yes"
    made = [names.load(f"random?seed={seed}&unigram={kind}").fingerprint for seed in (1, 2) for kind in ("yes", "no")]
    assert len(set(made)) == 4


@pytest.mark.parametrize(
    "name",
    [
        "random?seed=-1",
        "random?seed=x",
        f"random?seed={5000 * chr(57)}",
        "random?sed=1",
        "random:file",
        "random?unigram=1",
    ],
)
def test_what_it_does_not_take(name: str) -> None:
    with pytest.raises(UsageError):
        load(name)
