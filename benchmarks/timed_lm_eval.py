"""Program that times lm-eval's Hugging Face model: log-likelihoods only, without tasks and requests; batches of 16 on a CPU."""

from collections.abc import Sequence

import stopwatch
from lm_eval.api.instance import Instance
from lm_eval.models.huggingface import HFLM

BATCH = 16


def main() -> None:
    path, dtype, sentences = stopwatch.task()
    settings = stopwatch.options()
    model = HFLM(path, device=settings.get("device", "cpu"), dtype=dtype, batch_size=settings.get("batch", BATCH))

    def score(texts: Sequence[str]) -> list[float]:
        requests = [Instance("loglikelihood", {}, ("", text), index) for index, text in enumerate(texts)]
        return [total for total, _ in model.loglikelihood(requests, disable_tqdm=True)]

    stopwatch.measure(sentences, score, model.model)


if __name__ == "__main__":
    main()
