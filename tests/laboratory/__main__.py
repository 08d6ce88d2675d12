"""Try thousands of faults and of damaged files, and print the wrong outcomes.

`python -m tests.laboratory [NUMBER [SEED [NAME ...]]]`: the names choose lines, artefacts and `kills`, so that two processes can
share a night; each gets the faults that it gets in the whole.
"""

import random
import sys
import tempfile
from pathlib import Path

from .damage import ARTEFACTS, Damages
from .disk import Disk
from .kills import Kills
from .lines import LINES, prepare
from .trials import KINDS, Laboratory, faults


def main(number: int = 5000, seed: int = 1, *names: str) -> int:
    """Try faults of all command lines, damaged files of all artefacts and kills; return 1 if an outcome was wrong."""
    if unknown := set(names) - (known := {*LINES, *ARTEFACTS, "kills"}):
        print(f"nothing to try has the name {', '.join(sorted(unknown))}; there are {sorted(known)}")
        return 2
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="laboratory-") as folder:
        disk, start = Disk(Path(folder, "disk")), Path(folder, "start")
        prepare(disk, start)
        laboratory = Laboratory(disk, start)
        for place, (name, line) in enumerate(LINES.items()):
            if names and name not in names:
                continue
            share = (number + place) // len(LINES)
            undisturbed, draw = laboratory.undisturbed(line), random.Random(f"{seed} {name}")
            before = wrong
            if undisturbed.outcome.code or laboratory.not_durable(undisturbed):
                wrong += 1
                print(f"{name}: not done, or not durable: {undisturbed.outcome}", flush=True)
                continue
            for fault in faults(undisturbed, share, draw, KINDS):
                if faulty := laboratory.trial(undisturbed, fault):
                    wrong += 1
                    print(f"{name}: {undisturbed.described(fault)}: " + "; ".join(faulty), flush=True)
            print(f"{name}: {wrong - before} of {share} wrong", flush=True)
        for place, (name, artefact) in enumerate(ARTEFACTS.items()):
            if names and name not in names:
                continue
            share = (number + place) // len(ARTEFACTS)
            damages = Damages(disk, start, artefact, Path(folder, name))
            problems = 0
            for problem in damages.trials(share, random.Random(f"{seed} {name}")):
                problems += 1
                print(f"{name}: {problem}", flush=True)
            wrong += problems
            print(f"damaged files of {name}: {share} tried, {problems} problems", flush=True)
        disk.close()
        if not names or "kills" in names:
            (kills := Path(folder, "kills")).mkdir()
            problems, share = 0, number // 25
            for problem in Kills(kills, "local:2").trials(share, random.Random(f"{seed} kills")):
                problems += 1
                print(f"kills: {problem}", flush=True)
            wrong += problems
            print(f"kills of workers and drivers: {share} tried, {problems} problems", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3]), *sys.argv[3:]))
