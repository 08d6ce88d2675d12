"""Program that times vLLM: log-probabilities of token ids (`prompt_logprobs`), all texts in one call."""

from collections.abc import Sequence

import stopwatch
from transformers import AutoTokenizer
from vllm import LLM, SamplingParams


def main() -> None:
    path, dtype, sentences = stopwatch.task()
    tokenizer = AutoTokenizer.from_pretrained(path)
    start = tokenizer.bos_token_id
    model = LLM(model=path, dtype=dtype, enable_prefix_caching=False, seed=0)
    sampling = SamplingParams(temperature=0.0, max_tokens=1, prompt_logprobs=0, detokenize=False)

    def score(texts: Sequence[str]) -> list[float]:
        encoded = [[start, *ids] for ids in tokenizer(list(texts), add_special_tokens=False)["input_ids"]]
        outputs = model.generate([{"prompt_token_ids": ids} for ids in encoded], sampling, use_tqdm=False)
        return [
            sum(entry[number].logprob for number, entry in zip(ids[1:], output.prompt_logprobs[1:], strict=True))
            for ids, output in zip(encoded, outputs, strict=True)
        ]

    # The model is in another process, so its tokens are not counted.
    stopwatch.measure(sentences, score, None)


if __name__ == "__main__":
    main()
