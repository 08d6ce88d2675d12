"""Program that times a plain sliding window with transformers: one window after the other, softmax at all positions."""

from collections.abc import Sequence

import stopwatch
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


def main() -> None:
    path, _, [document] = stopwatch.task()
    model = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(path)
    positions: int = model.config.n_positions

    @torch.no_grad()
    def score(texts: Sequence[str]) -> list[float]:
        [text] = texts
        ids = tokenizer(text)["input_ids"]
        nats: list[float] = []
        while len(nats) < len(ids):
            begin = max(0, len(nats) - positions // 2)
            window = torch.tensor([tokenizer.bos_token_id, *ids[begin : begin + positions]])
            log_probabilities = model(input_ids=window[None, :-1]).logits[0].log_softmax(-1)
            surprisals = -log_probabilities.gather(-1, window[1:, None])[:, 0]
            nats += surprisals[len(nats) - begin :].tolist()
        return nats

    stopwatch.measure([document], score, model, [document[:2_000]])


if __name__ == "__main__":
    main()
