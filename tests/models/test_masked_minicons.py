"""Pseudo-log-likelihoods of minicons, under both maskings; skipped where `make bench` has not built its environment."""

from pathlib import Path

import pytest
from masked_for_tests import transformer, word_pieces

from benchmarks import peers
from benchmarks.pll import timed

TEXTS = [
    "The old gardener watered the roses before the rain came.",
    "The gardeners near the gate were waiting for the baker's daughter.",
    "Unbelievable naïve café owners, or so she said!",
    "Porto",
]


@pytest.mark.slow
@pytest.mark.skipif(not (peers.PLACE / "ready").exists(), reason="the peers' environment is not built")
@pytest.mark.parametrize("masking", ["token", "word"])
def test_they_are_those_of_minicons(masking: str, tmp_path: Path) -> None:
    tokenizer = word_pieces()
    transformer("bert", tokenizer).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    # The peers' version of transformers knows no other class.
    settings = (tmp_path / "tokenizer_config.json").read_text()
    (tmp_path / "tokenizer_config.json").write_text(settings.replace("TokenizersBackend", "PreTrainedTokenizerFast"))
    ours, theirs = (timed(tool, TEXTS, masking, 2, tmp_path).scores for tool in ("syntagm", "minicons"))
    # In nats.
    assert ours == pytest.approx(theirs, abs=1e-4)
    assert len(set(ours)) == len(TEXTS)
