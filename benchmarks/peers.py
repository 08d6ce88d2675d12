"""The peers' own virtual environment, built on the first call."""

import subprocess
import venv
from pathlib import Path

from benchmarks import ROOT

PLACE = ROOT / ".bench-venv"
REQUIREMENTS = ("minicons==0.3.39", "lm-eval[hf]==0.4.13", "transformers==4.57.6", "torch==2.13.0")


def python() -> Path:
    """Return the Python interpreter of the peers' environment."""
    binary = PLACE / "bin" / "python"
    ready = PLACE / "ready"
    requirements = "\n".join(REQUIREMENTS) + "\n"
    if not ready.exists() or ready.read_text() != requirements:
        print("Building the peers' environment:", *REQUIREMENTS, flush=True)
        venv.create(PLACE, with_pip=True)
        subprocess.run([binary, "-m", "pip", "install", "--quiet", *REQUIREMENTS], check=True)
        ready.write_text(requirements)
    return binary
