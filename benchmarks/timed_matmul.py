"""Program that measures the matrix-multiply rate with the model's shapes, in FLOP per CPU-second; the best of several passes."""

import json
import sys
import time

import torch

ROWS = 1536
REPEATS = 5


def main() -> None:
    dtype = getattr(torch, sys.argv[1])
    width, layers, vocabulary = map(int, sys.argv[2:])
    body = [_product(inputs * width, outputs * width, dtype) for inputs, outputs in ((1, 3), (1, 1), (1, 4), (4, 1))]
    head = _product(width, vocabulary, dtype)
    best = float("inf")
    with torch.inference_mode():
        for _ in range(REPEATS + 1):
            best = min(best, layers * sum(map(_seconds, body)) + _seconds(head))
    flops = 2 * ROWS * (12 * layers * width * width + width * vocabulary)
    print(json.dumps({"rate": flops / best}))


def _product(inputs: int, outputs: int, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    left = torch.randn(ROWS, inputs, dtype=dtype)
    return left, torch.randn(inputs, outputs, dtype=dtype), torch.empty(ROWS, outputs, dtype=dtype)


def _seconds(product: tuple[torch.Tensor, torch.Tensor, torch.Tensor]) -> float:
    left, weights, result = product
    start = time.process_time()
    torch.mm(left, weights, out=result)
    return time.process_time() - start


if __name__ == "__main__":
    main()
