"""Tests of numbers pass on older processors, too, where libraries sum in another order and round otherwise."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
# Models, statistics, and what earlier versions wrote.
FILES = [
    *sorted(TESTS.glob("models/test_causal*.py")),
    *sorted(TESTS.glob("models/test_masked*.py")),
    *sorted(TESTS.glob("stats/test_*.py")),
    *sorted(TESTS.glob("test_old_*.py")),
]
# Instructions of about 2008: torch, its kernels for convolutions and products, numpy's BLAS, and numpy itself.
OLDEST = {
    "ATEN_CPU_CAPABILITY": "default",
    "ONEDNN_MAX_CPU_ISA": "SSE41",
    "MKL_CBWR": "COMPATIBLE",
    "OPENBLAS_CORETYPE": "Nehalem",
    "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
}


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="the settings are those of x86 processors")
def test_numbers_are_right_without_newer_instructions() -> None:
    words = [sys.executable, "-m", "pytest", "-n0", "-p", "no:cacheprovider", *map(str, FILES)]
    # numpy warns that it can't do without what this processor doesn't have either.
    environment = os.environ | OLDEST | {"PYTHONWARNINGS": "ignore::ImportWarning"}
    done = subprocess.run(words, cwd=TESTS.parent, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
    capability = [sys.executable, "-c", "import torch; print(torch.backends.cpu.get_cpu_capability())"]
    shown = subprocess.run(capability, env=environment, capture_output=True, text=True, check=True).stdout
    assert shown.strip() in ("DEFAULT", "NO AVX")
