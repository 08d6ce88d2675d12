"""The nested subsets of an experiment's corpus, and the number of words in each of its texts."""

from collections.abc import Mapping
from pathlib import Path

from syntagm.core import Progress, RunError, UsageError, atomic, hashing
from syntagm.papers.experiment.design import Design
from syntagm.papers.experiment.lock import waiting
from syntagm.papers.experiment.measured import DESIGN


def draw(design: Design, progress: Progress) -> dict[str, int]:
    """Write the subsets that do not exist yet, and record their hashes; in a sample, each is a proper subset of the next."""
    from syntagm.training import corpus, nested

    with waiting(design.folder, progress):
        recorded = DESIGN.read(design.record())
        hashes: dict[str, str] = recorded.get("parts", {})
        samples = [design.parts(sample) for sample in range(1, design.samples + 1)]
        names = [name for parts in samples for name in parts]
        for name in names:
            if error := fault(design.part(name), hashes.get(name, "")):
                raise error
        for number, parts in enumerate(samples):
            # A subset without a hash was left by a kill.
            missing = {
                name: size for name, size in parts.items() if name not in hashes or not design.part(name).exists()
            }
            if missing:
                folder = atomic.inside(design.folder, "corpora")
                nested.write(design.corpus, missing, folder, design.draw + number, sections=design.sections)
                hashes |= {name: hashing.of_file(design.part(name)) for name in missing}
                DESIGN.write(design.record(), recorded | {"parts": hashes})
    return {name: sum(len(text.split()) for text in corpus.texts([design.part(name)])) for name in names}


def fault(path: Path, digest: str) -> RunError | None:
    """Return an error if a subset does not have its recorded hash; None if it is intact, missing or not recorded."""
    if not digest or not path.exists() or hashing.of_file(path) == digest:
        return None
    cure = "Remove it; the command that made the experiment draws it again."
    return RunError(str(path), "damaged or edited", "the subset as it was drawn", cure)


def words(design: Design) -> dict[str, int]:
    """Count the words of the texts `corpus`, `valid` and `test`."""
    from syntagm.training import corpus

    texts = {"corpus": design.corpus, "valid": design.valid, "test": design.test}
    counts = {name: sum(len(text.split()) for text in corpus.texts(paths)) for name, paths in texts.items()}
    for name, size in design.sizes.items():
        if size > counts["corpus"]:
            found = f"{name} of {size:,} words"
            fit = {name: size for name, size in design.sizes.items() if size <= counts["corpus"]}
            fit = fit if len(fit) > 1 else fitting_sizes(design.sizes, counts["corpus"])
            fitting = ",".join(f"{name}={size}" for name, size in fit.items())
            expected = f"at most the {counts['corpus']:,} words of the training text"
            raise UsageError("sizes", found, expected, f"These fit: --sizes {fitting}")
    return counts


def fitting_sizes(sizes: Mapping[str, int], words: int) -> dict[str, int]:
    """Reduce sizes in proportion so that the largest fits into a text, and round them down to two digits.

    >>> fitting_sizes({"xs": 100_000, "sm": 1_000_000}, 219_500)
    {'xs': 21000, 'sm': 210000}
    """
    share = words / max(sizes.values())
    return {name: _two_digits(int(size * share)) for name, size in sizes.items()}


def _two_digits(number: int) -> int:
    unit = int(10 ** max(0, len(str(number)) - 2))
    return max(1, number // unit * unit)
