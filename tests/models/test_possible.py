"""Which bits an answer can have, and every place where answers come in from elsewhere."""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
from toy_runs import agreement

from syntagm.cli import main
from syntagm.core import ModelError
from syntagm.evaluation import perplexity, score_text
from syntagm.models import Asking, Entry, Fill, Gap, LanguageModel, Recorded, Sees, Surprisals, names
from syntagm.models.possible import ROUNDING, fault, fault_in_gap
from syntagm.runs.cache import AnswerCache
from syntagm.runs.evaluate import evaluate


@dataclass
class States:
    exact: bool = True
    sees: Sees = "left"
    settings: Mapping[str, str] = field(default_factory=dict)
    numerical_error: float = 0.0


CORRECTED = States(settings={"boundary": "word"})
BEAM = States(exact=False)


def answer(*bits: float) -> Surprisals:
    """An answer to "a b c ...": a letter for each number."""
    text = " ".join("abcdefgh"[: len(bits)])
    starts = [max(0, 2 * index - 1) for index in range(len(bits))]
    return Surprisals(text, np.array(starts, np.int32), np.array(bits, np.float64), np.ones(len(bits), bool))


@pytest.mark.parametrize(
    ("stated", "bits", "found"),
    [
        (States(), (3.0, -1.0), "-1 bits of token 1, ' b'"),
        (States(sees="both"), (3.0, -1.0), "-1 bits of token 1"),
        (States(sees="left and length"), (3.0, -0.001), "-0.001 bits of token 1"),
        # 1e-4 nats are 1.44e-4 bits.
        (States(), (3.0, -0.00014), ""),
        (States(), (3.0, -0.00015), "-0.00015 bits of token 1"),
        (States(numerical_error=0.05), (3.0, -0.05), ""),
        (States(numerical_error=0.05), (3.0, -0.06), "-0.06 bits of token 1"),
        # Eight roundings, and no 0.001 bits in all.
        (States(), (-0.00014,) * 8, "-0.00112 bits in all"),
        (States(), (math.nan, 2.0, math.nan, math.inf), ""),
        (States(), (2.0, -math.inf), "-inf bits of token 1"),
        (States(), (-0.0, 0.0), ""),
        # The bound of "a b" may be tighter than that of "a": 5 - 2 bits. That of "a" is a bound, too.
        (BEAM, (5.0, -2.0), ""),
        (BEAM, (5.0, -5.002), "-0.002 bits in all"),
        (BEAM, (-2.0, 5.0), "-2 bits up to token 0, 'a'"),
        (BEAM, (5.0, -math.inf), "-inf bits of token 1"),
        (States(exact=False, sees="both"), (-2.0, 5.0), ""),
        (States(exact=False, sees="both"), (-2.0, 1.0), "-1 bits in all"),
        (CORRECTED, (5.0, -2.0), ""),
        (CORRECTED, (1.0, -2.0, 9.0), "-1 bits up to token 1, ' b'"),
    ],
)
def test_which_numbers_are_possible(stated: States, bits: tuple[float, ...], found: str) -> None:
    problem = fault(answer(*bits), stated)
    assert (problem.found if problem else "").startswith(found)
    assert bool(problem) == bool(found)


def filled(*bits: float) -> Fill:
    unknown = np.full(len(bits), np.nan)
    return Fill(np.array(bits, np.float64), unknown, unknown, np.ones(len(bits), bool))


def test_which_candidates_are_possible() -> None:
    assert fault_in_gap(filled(1.0, math.nan, math.inf, -ROUNDING / 2), States()) is None
    assert fault_in_gap(filled(1.0, -0.5), BEAM) is None
    for stated, fill in ((States(), filled(1.0, -0.5)), (BEAM, filled(-math.inf))):
        assert fault_in_gap(fill, stated)


class Negative(LanguageModel):
    """A model of another package: each text is one token of -1 bit."""

    name, fingerprint, bos = "negative:", "0" * 64, "<s>"
    settings, record, can = {}, {}, frozenset({"score", "fill"})

    def score(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Iterator[Surprisals]:
        for text in texts:
            yield Surprisals(text, np.zeros(1, np.int32), np.full(1, -1.0), np.ones(1, bool))

    def fill(self, gaps: Sequence[Gap], done: Callable[[int], None] | None = None) -> Iterator[Fill]:
        for gap in gaps:
            yield filled(*[-1.0] * len(gap.words))


def test_whoever_asks_refuses_them() -> None:
    for ask in (
        lambda: evaluate(Negative(), [agreement()]),
        lambda: score_text(Negative(), "The dog"),
        lambda: perplexity(Negative(), ["The dog"], ends=False),
    ):
        with pytest.raises(
            ModelError, match=r"negative:: -1 bits of token 0, 'The .*expected at least 0: bits are -log2"
        ):
            ask()
    with pytest.raises(
        ModelError, match="negative:: -1 bits of a candidate in the gap after 'The '; expected at least 0"
    ):
        list(Asking(Negative()).fill([Gap("The ", "", ("dog",))]))


def test_an_impossible_answer_in_the_cache_is_refused(tmp_path: Path) -> None:
    """An earlier version may have put it there."""
    toy, cache = names.load("toy"), AnswerCache(tmp_path / "answers.sqlite", pytest.fail)
    toy.worth_caching = True  # type: ignore[misc]
    cache.put(toy, Negative().score(["The dog barks"]))
    with pytest.raises(ModelError, match="-1 bits of token 0, 'The dog barks'"):
        evaluate(toy, [agreement()], cache=cache)


ARPA = r"""\data\
ngram 1=4
ngram 2=2

\1-grams:
-1.0	<unk>
-99	<s>	BACK
-0.5	</s>
-0.5	dog	-0.5

\2-grams:
-0.3	<s> dog
-0.4	dog </s>

\end\
"""


def test_back_off_weights_that_give_more_than_everything(tmp_path: Path) -> None:
    """log10 p(cat | <s>) = 2 - 1 = 1, of an unknown word."""
    (tmp_path / "fine.arpa").write_text(ARPA.replace("BACK", "-0.5"))
    assert score_text(names.load(f"ngram:{tmp_path / 'fine.arpa'}"), "cat")["bits"].to_list() == pytest.approx(
        [4.983], abs=1e-3
    )
    (tmp_path / "wrong.arpa").write_text(ARPA.replace("BACK", "2"))
    with pytest.raises(ModelError, match=r"wrong\.arpa@\w+: -3\.32\d* bits of token 0, 'cat', in 'cat'"):
        score_text(names.load(f"ngram:{tmp_path / 'wrong.arpa'}"), "cat")


RECORDED = "model,index,start,token,bits\n{0},0,0,the,5\n{0},1,3, dog,{1}\n"


def recorded(folder: Path, model: str, bits: object, options: str = "") -> Recorded:
    (folder / "tokens.csv").write_text(RECORDED.format(model, bits))
    loaded = names.load(f"recorded:{folder / 'tokens.csv'}{options}")
    assert isinstance(loaded, Recorded)
    return loaded


def test_recorded_bits(tmp_path: Path) -> None:
    for bits in ("-1", "-inf", "-0.001"):
        with pytest.raises(
            ModelError, match=rf"tokens\.csv, line 3: {bits} bits of token 1, ' dog', in 'the dog'"
        ) as error:
            recorded(tmp_path, "causal:x", bits)
        assert "add ?exact=no to the name" in str(error.value)
    for bits in ("inf", "nan", "-0.0001", "-1e-9"):
        [kept] = recorded(tmp_path, "causal:x", bits).score(["the dog"])
        assert str(kept.bits[1]) == str(float(bits))
    [zero] = recorded(tmp_path, "causal:x", "-0.0").score(["the dog"])
    assert str(zero.bits[1]) == "0.0"


@pytest.mark.parametrize(
    ("model", "options", "settings"),
    [
        ("rnng:tiny@0123?beam=100", "", {"exact": "no"}),
        ("recorded:x?exact=no", "", {"exact": "no"}),
        ("mine", "?exact=no", {"exact": "no"}),
        ("causal:gpt2?boundary=word", "", {"boundary": "word"}),
        ("mine", "?boundary=word", {"boundary": "word"}),
    ],
)
def test_recorded_bits_of_bounds_and_corrected_words(
    model: str, options: str, settings: dict[str, str], tmp_path: Path
) -> None:
    replayed = recorded(tmp_path, model, "-1", options)
    assert [kept.bits.tolist() for kept in replayed.score(["the dog"])] == [[5, -1]]
    assert dict(replayed.settings) == {"bos": "yes", **settings}
    assert replayed.exact == ("exact" not in settings)
    assert replayed.name.endswith("?" + "&".join(f"{name}={value}" for name, value in settings.items()))
    with pytest.raises(ModelError, match="-1 bits in all"):
        recorded(tmp_path, model, "-6", options)
    with pytest.raises(ModelError, match="-1 bits of token 1"):
        recorded(tmp_path, model, "-1", "?exact=yes&boundary=token")


def test_the_command_line_says_it_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "tokens.csv").write_text(RECORDED.format("causal:x", -1))
    assert main(["score", f"recorded:{tmp_path / 'tokens.csv'}", "the dog"]) == 2
    message = capsys.readouterr().err
    assert len(message.splitlines()) == 1
    assert re.match(r"syntagm: recorded:.*tokens\.csv, line 3: -1 bits", message)


def test_which_entries_are_possible() -> None:
    listed = replace(filled(1.0), best=(Entry("dog", True, 1.0), Entry("cat", True, -0.5)))
    assert fault_in_gap(listed, States())
    assert fault_in_gap(listed, BEAM) is None
    assert fault_in_gap(replace(listed, best=listed.best[:1]), States()) is None
