"""The record of an experiment, the check that a resumed experiment is the same one, and what is damaged in its folder.

A value of the record is fixed once results depend on it: the hyperparameters of a family when the training of one of
its models has started, the size of a subset when it is drawn. Until then, a new value replaces the old one, so mistakes
can be corrected.
"""

import json
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from syntagm.core import Progress, RunError, SyntagmError, UsageError, atomic, hashing, held, record as records
from syntagm.papers.experiment import design as places, hyperparameters
from syntagm.papers.experiment.design import DESIGN, Cell, Design, part_name
from syntagm.runs import PERPLEXITY, has_run
from syntagm.stats import SIMULATIONS
from syntagm.training import record as training

WAIT_SECONDS = 0.5


@contextmanager
def locked_folder(folder: Path, progress: Progress) -> Iterator[None]:
    """Lock a folder, as `core.io.lock.held` does, but wait if another process of the experiment has locked it."""
    with ExitStack() as stack:
        waited = False
        while True:
            try:
                stack.enter_context(held(folder))
                break
            except RunError as error:
                if not error.found.startswith("in use"):
                    raise
                if not waited:
                    progress.began(f"{folder}: {error.found}; waiting")
                waited = True
            time.sleep(WAIT_SECONDS)
        yield


def draw_subsets(design: Design, progress: Progress) -> dict[str, int]:
    """Write the subsets that do not exist yet, and record their hashes; in a sample, each is a proper subset of the next."""
    from syntagm.training import corpus, nested

    with locked_folder(design.folder, progress):
        recorded = DESIGN.read(design.record())
        hashes: dict[str, str] = recorded.get("parts", {})
        samples = [design.parts(sample) for sample in range(1, design.samples + 1)]
        names = [name for parts in samples for name in parts]
        for name in names:
            if error := damaged_subset(design.part(name), hashes.get(name, "")):
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


def damaged_subset(path: Path, digest: str) -> RunError | None:
    """Return an error if a subset does not have its recorded hash; None if it is intact, missing or not recorded."""
    if not digest or not path.exists() or hashing.of_file(path) == digest:
        return None
    cure = "Remove it; the command that made the experiment draws it again."
    return RunError(str(path), "damaged or edited", "the subset as it was drawn", cure)


def count_words(design: Design) -> dict[str, int]:
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


def check(design: Design) -> None:
    """Check that an experiment can start or resume in its folder. Nothing is written."""
    _merged(design, _record(design))


def begin(design: Design, progress: Progress) -> None:
    """Write the record into the folder, or add families and sizes to it; the errors are the same as for `check`."""
    requested, path = _record(design), design.record()
    with locked_folder(design.folder, progress):
        merged = _merged(design, requested)
        if not path.exists() or merged != DESIGN.read(path):
            DESIGN.write(path, merged)


def refuse_changed(design: Design, cell: Cell) -> None:
    """Refuse a model that the record no longer allows."""
    recorded = DESIGN.read(design.record())
    requested: dict[str, dict[str, Any]] = {
        "families": {cell.family: dict(design.options[cell.family])},
        "sizes": {cell.size: design.sizes[cell.size]},
    }
    relevant = {key: {name: recorded[key].get(name) for name in names} for key, names in requested.items()}
    _refuse_another(design, relevant, requested)


def _record(design: Design) -> dict[str, Any]:
    from syntagm.evaluation import suite_hash
    from syntagm.suites import read_suites
    from syntagm.training import corpus

    if design.draw < 0:
        raise UsageError("draw", str(design.draw), "a whole number from 0")
    if design.samples < 1:
        raise UsageError("samples", str(design.samples), "at least 1")
    if numbered := next((size for size in design.sizes if re.search(r"\.\d+$", size)), None):
        raise UsageError("sizes", repr(numbered), "a name that doesn't end like xs.2, the name of a second sample")
    for family, options in design.options.items():
        for size, words in design.sizes.items():
            hyperparameters.check(family, options, words, [str(design.part(size))], design.valid)
    texts = {name: corpus.record(getattr(design, name)) for name in ("corpus", "valid", "test")}
    values = {
        "format": DESIGN.format,
        **texts,
        "draw": design.draw,
        "samples": design.samples,
        "sections": design.sections,
        "suites": list(design.suites),
    }
    values["suite_hashes"] = {suite.name: suite_hash(suite) for suite in read_suites(*design.suites)}
    values |= {
        "sizes": dict(design.sizes),
        "families": {name: dict(options) for name, options in design.options.items()},
    }
    record: dict[str, Any] = json.loads(json.dumps(values))
    return record


def _merged(design: Design, requested: Mapping[str, Any]) -> dict[str, Any]:
    path = design.record()
    recorded = DESIGN.read(path) if path.exists() else {}
    if not recorded and (_models_with_results(design.folder) or any(design.folder.glob("corpora/*.t*"))):
        found = "subsets of a corpus or models, without an experiment.json"
        raise RunError(str(design.folder), found, "an experiment, or a new folder", "Choose another folder.")
    fixed = _fixed(design, recorded)
    fixed_values = {key: {name: recorded[key][name] for name in names} for key, names in fixed.items()}
    # Records of older versions are about sentences.
    drawn = {"sections": recorded.get("sections", "")} if recorded else {}
    _refuse_another(design, {**recorded, **fixed_values, **drawn, "samples": requested["samples"]}, requested)
    kept: dict[str, Any] = {key: recorded[key] for key in ("parts", "renewed") if key in recorded}
    # Samples can be added, and a command for fewer of them doesn't forget the others.
    kept["samples"] = max(recorded.get("samples", 1), requested["samples"])
    return {**requested, **{key: recorded.get(key, {}) | requested[key] for key in fixed}, **kept}


def _fixed(design: Design, recorded: Mapping[str, Any]) -> dict[str, set[str]]:
    """Return the sizes and families whose values can no longer change, because results in the folder depend on them."""
    fixed: dict[str, set[str]] = {"sizes": set(), "families": set()}
    models = _models_with_results(design.folder)
    for size in recorded.get("sizes", {}):
        if any(design.part(part_name(size, sample)).exists() for sample in range(1, recorded.get("samples", 1) + 1)):
            fixed["sizes"].add(size)
        for family in recorded.get("families", {}):
            if any(re.fullmatch(rf"{re.escape(f'{family}-{size}')}(\.\d+)?(-\d+)?", name) for name in models):
                fixed["sizes"].add(size)
                fixed["families"].add(family)
    return fixed


def _models_with_results(folder: Path) -> set[str]:
    """Return the names of the models that have training results, a run or a perplexity in the folder."""
    trained = {path.name for path in folder.glob("models/*") if training.leaves_something(path)}
    runs = {path.name for path in folder.glob("runs/*") if has_run(path)}
    return trained | runs | {path.stem for path in folder.glob("perplexity/*.json")}


def _refuse_another(design: Design, recorded: Mapping[str, Any], requested: Mapping[str, Any]) -> None:
    """Refuse a request that changes a recorded value. Keys that only one of the two has are ignored."""
    old, new = _shared(recorded, requested), _shared(requested, recorded)
    changed = {path.partition(".")[0] for path in records.differences(old, new)} & {"families", "sizes"}
    remove = ", remove what was computed from the old files" if changed else ""
    cure = f"Use the same options as before to resume it{remove}, or choose another folder."
    records.refuse_another(design.record(), "an experiment", old, new, cure)


def _shared(record: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a record whose keys are also in another record."""
    return {
        key: _shared(value, other[key]) if isinstance(value, Mapping) and isinstance(other[key], Mapping) else value
        for key, value in record.items()
        if key in other
    }


def faults(folder: Path) -> dict[Path, SyntagmError]:
    """Return an error for each file of an experiment that is damaged or missing, its models and runs excepted."""
    try:
        design = DESIGN.read(places.record_path(folder))
    except SyntagmError as error:
        return {places.record_path(folder): error}
    faults: dict[Path, SyntagmError] = {}
    for path in _perplexities(folder):
        try:
            places.read_perplexity(path, design["families"], design["sizes"])
        except SyntagmError as error:
            faults[path] = error
        if not has_run(run := folder / "runs" / path.stem):
            cure = "Repeat the command that made the experiment: it computes the run again."
            faults[run / "run.json"] = RunError(str(run), "no run", f"that of {path.stem}", cure)
        if training.lacks_record(model := folder / "models" / path.stem):
            cure = "Restore it; or delete the folder, and repeat the command that made the experiment."
            found = "no such file, beside weights"
            faults[model / training.FILE] = RunError(
                str(model / training.FILE), found, "the record of the training", cure
            )
    for path in _simulations(folder):
        try:
            SIMULATIONS.read(path)
        except SyntagmError as error:
            faults[path] = error
    for name, digest in design.get("parts", {}).items():
        path = places.part_file(folder, name, [text["name"] for text in design["corpus"]])
        if damaged := damaged_subset(path, digest):
            faults[path] = damaged
    return faults


def renew(folder: Path) -> list[str]:
    """Renew the seals of an experiment's records after an intended change."""
    forms = {
        places.record_path(folder): DESIGN,
        **dict.fromkeys(_perplexities(folder), PERPLEXITY),
        **dict.fromkeys(_simulations(folder), SIMULATIONS),
    }
    changed = []
    for path, form in forms.items():
        if renewed := form.renewed(path):
            form.write(path, renewed)
            changed.append(path.relative_to(folder).as_posix())
    return changed


def _perplexities(folder: Path) -> Iterator[Path]:
    yield from sorted((folder / "perplexity").glob("*.json"))


def _simulations(folder: Path) -> Iterator[Path]:
    yield from sorted((folder / "simulations").glob("*.json"))
