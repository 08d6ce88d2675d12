"""What all tests share: one thread, no network, a cache of their own, no deadlines."""

import contextlib
import faulthandler
import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

import pytest
from hypothesis import HealthCheck, settings

# No test looks at a clock: on a loaded machine, a deadline fails what is right.
settings.register_profile("syntagm", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("syntagm")


def pytest_configure(config: pytest.Config) -> None:
    """End the process if all fast tests take longer than any could: a timer for each of thousands takes seconds."""
    if config.option.markexpr == "not slow":
        faulthandler.dump_traceback_later(1200, exit=True, file=sys.__stderr__)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect tests without looking for garbage, as millions of objects stay; while tests run, look for it seldom."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(100_000, 10, 10)
        gc.enable()


SHARED = Path(__file__).resolve().parents[1].parent / "shared"


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    import torch

    torch.set_num_threads(1)


@pytest.fixture(scope="session", autouse=True)
def _no_waiting_for_the_disk() -> Iterator[None]:
    """No test ends with a power cut, which `laboratory/disk.py` tries in a process of its own."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def _cache_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SYNTAGM_CACHE", str(tmp_path_factory.getbasetemp() / "cache" / "answers.sqlite"))
        yield


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A Chromium without a screen; the test is skipped where there is none, or no playwright."""
    from syntagm.core import UsageError
    from syntagm.experiment import walk

    with contextlib.ExitStack() as stack:
        try:
            opened = stack.enter_context(walk.browser())
        except UsageError as error:
            pytest.skip(str(error))
        yield opened


@pytest.fixture
def shared() -> Path:
    """The folder of published data beside the checkout; the test is skipped where there is none."""
    if not SHARED.is_dir():
        pytest.skip("no ../shared here")
    return SHARED
