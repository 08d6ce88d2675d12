"""Program that measures the matrix-multiply rate with the model's shapes, in FLOP per CPU-second.

Each product is computed several times by `torch.mm` and by oneDNN, and the fastest one counts.
"""

import json
import sys
import time
from collections.abc import Callable

import torch

ROWS = 512
REPEATS = 6


def main() -> None:
    dtype = getattr(torch, sys.argv[1])
    width, layers, vocabulary = map(int, sys.argv[2:])
    shapes = ((width, 3 * width), (width, width), (width, 4 * width), (4 * width, width))
    with torch.inference_mode():
        body = sum(_fastest(inputs, outputs, dtype) for inputs, outputs in shapes)
        head = _fastest(width, vocabulary, dtype)
    flops = 2 * ROWS * (12 * layers * width * width + width * vocabulary)
    print(json.dumps({"rate": flops / (layers * body + head)}))


def _fastest(inputs: int, outputs: int, dtype: torch.dtype) -> float:
    """Return the CPU-seconds of a product."""
    left, right = torch.randn(ROWS, inputs, dtype=dtype), torch.randn(outputs, inputs, dtype=dtype)
    weights, result = right.t().contiguous(), torch.empty(ROWS, outputs, dtype=dtype)
    copied = left.to_mkldnn()
    ways = (lambda: torch.mm(left, weights, out=result), lambda: torch.nn.functional.linear(copied, right))
    return min(_seconds(way) for way in ways for _ in range(REPEATS))


def _seconds(product: Callable[[], torch.Tensor]) -> float:
    start = time.process_time()
    product()
    return time.process_time() - start


if __name__ == "__main__":
    main()
