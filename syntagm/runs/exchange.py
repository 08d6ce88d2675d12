"""The folder through which a driver and its workers exchange work, on one machine or on a shared file system.

The driver alone commits; workers compute (`runs.shared_folder`). Every change is one rename in one file system:

    pulse                  renewed by the driver as long as it lives
    models/M.json          the name of model number M, and the options with which its run was opened
    offers/M/K.NAME        a piece that nobody has: K is its place in the order, NAME that of the unit, `open` or `results`
    leases/M.K.NAME.W      the same file: worker W renamed it, so no other worker can have it, and renews it; its size in
                           bytes is the number of questions answered so far (nothing is written: the file is a hole)
    files/M.K.NAME.W.FILE  a file that worker W wrote, such as a table: fsynced, for the driver to move to its place
    outcomes/M.K.NAME.W    what worker W says of it, written last: JSON with the hashes of the files

The guarantee is not here but in the ledger: the driver commits a unit once, whoever computed it and how often. A lease only
avoids double work. It relies on this: a rename is atomic, and of several renames of one file one succeeds; a file is
visible under its new name with all that was written before (close-to-open consistency on NFS); renewing a file changes its
modification time. Nobody compares a time with a clock: a driver or worker counts as dead if the time of its file stays *the
same* while the observer's own monotonic clock advances by `patience`. So it does not matter which time a clock shows, or
whether it jumps.
"""

import contextlib
import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from syntagm.core import atomic, hashing, regular
from syntagm.runs.pieces import Arrival, Outcome, Piece, encoded_head


@dataclass(frozen=True, slots=True)
class FiledArrival(Arrival):
    """An outcome whose files the worker has written into the folder of the exchange, durably."""

    def settle(self) -> bool:
        """Return whether all files can be read, and are those that the worker wrote."""
        try:
            return all(hashing.of_file(path) == self.hashes[name] for name, path in self.files.items())
        except OSError:
            return False

    def remove(self) -> None:
        """Delete those files that were not moved."""
        for path in self.files.values():
            path.unlink(missing_ok=True)


class Pulse:
    """Whether a file is still renewed, judged by the observer's monotonic clock."""

    def __init__(self, path: Path, patience: float) -> None:
        self._path, self._patience = path, patience
        self.exists, self.size = True, 0
        self._seen: int | None = None
        self._changed = time.monotonic()

    def beats(self) -> bool:
        """Return whether the file exists and was renewed within the observer's last `patience` seconds."""
        try:
            # To open a file asks the file server for its attributes, which may otherwise be old.
            with regular.opened(self._path) as file:
                status = os.fstat(file.fileno())
        except FileNotFoundError:
            self.exists = False
            return False
        except OSError:  # such as ESTALE, of a network file system
            return time.monotonic() - self._changed < self._patience
        self.exists, self.size = True, status.st_size
        if status.st_mtime_ns != self._seen:
            self._seen, self._changed = status.st_mtime_ns, time.monotonic()
        return time.monotonic() - self._changed < self._patience


class Exchange:
    """The folder of the exchange; see the module. All methods may raise OSError."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pulse = folder / "pulse"

    def create(self) -> None:
        for name in ("models", "offers", "leases", "files", "outcomes", "logs"):
            (self.folder / name).mkdir()
        self.pulse.touch()

    def describe(self, model: int, order: Mapping[str, Any]) -> None:
        """Write what workers have to know of a model."""
        self._write(self.folder / "models" / f"{model:06d}.json", json.dumps(order).encode())

    def order(self, model: int) -> dict[str, Any]:
        order: dict[str, Any] = json.loads(regular.content(self.folder / "models" / f"{model:06d}.json"))
        return order

    def answered(self, model: int) -> bool:
        """Return whether the driver has opened the run of a model, or given up the model."""
        return "fingerprint" in self.order(model)

    def offer(self, piece: Piece) -> None:
        folder = self.folder / "offers" / f"{piece.model:06d}"
        folder.mkdir(exist_ok=True)
        # A file that a worker took may still exist for the cache of this machine, and then it can't be made again.
        (temporary := self.folder / "files" / f".{piece}").touch()
        os.rename(temporary, folder / f"{piece.place:06d}.{piece.name}")

    def withdraw(self, model: int) -> None:
        shutil.rmtree(self.folder / "offers" / f"{model:06d}", ignore_errors=True)

    def offers(self) -> dict[int, list[Piece]]:
        """Return the models with offers, and these in order."""
        models = sorted(int(name) for name in os.listdir(self.folder / "offers"))
        return {model: pieces for model in models if (pieces := self.offers_of(model))}

    def offers_of(self, model: int) -> list[Piece]:
        """Return the offers of a model in order."""
        try:
            names = sorted(os.listdir(self.folder / "offers" / f"{model:06d}"))
        except FileNotFoundError:
            return []
        return [Piece(model, int(place), name) for place, _, name in (each.partition(".") for each in names)]

    def lease(self, piece: Piece, worker: str) -> bool:
        """Take an offered piece; return False if another worker was quicker."""
        offer = self.folder / "offers" / f"{piece.model:06d}" / f"{piece.place:06d}.{piece.name}"
        try:
            os.rename(offer, self.lease_of(piece, worker))
        except FileNotFoundError:
            return False
        return True

    def lease_of(self, piece: Piece, worker: str) -> Path:
        return self.folder / "leases" / f"{piece}.{worker}"

    def leases(self) -> Iterator[tuple[Piece, str]]:
        for name in sorted(os.listdir(self.folder / "leases")):
            yield _parsed(name)

    def renew(self, lease: Path, answered: int) -> None:
        os.utime(lease)
        # Unlike writing, this takes no space, and can't create a file. A piece is not lost for want of the number.
        with contextlib.suppress(OSError):
            os.truncate(lease, answered)

    def release(self, piece: Piece, worker: str) -> None:
        self.lease_of(piece, worker).unlink(missing_ok=True)

    def deliver(self, piece: Piece, worker: str, outcome: Outcome) -> None:
        """Write the outcome of a piece, and end the lease."""
        try:
            hashes = {
                name: self._write_file(self._file(piece, worker, name), outcome.files[name]) for name in outcome.files
            }
            self._write(self.folder / "outcomes" / f"{piece}.{worker}", encoded_head(outcome, hashes))
        except FileNotFoundError:
            raise
        except OSError as error:
            raise atomic.refusal(self.folder.parent, error, 0) from error
        self.release(piece, worker)

    def arrivals(self) -> list[FiledArrival]:
        """Take the outcomes that have arrived, in the order of their pieces. Their files stay where they are."""
        arrivals = []
        for name in sorted(os.listdir(self.folder / "outcomes")):
            if not name.startswith("."):
                piece, worker = _parsed(name)
                path = self.folder / "outcomes" / name
                head = json.loads(regular.content(path))
                path.unlink()
                hashes, seconds = head.pop("hashes"), head.pop("seconds")
                files = {name: self._file(piece, worker, name) for name in hashes}
                arrivals.append(FiledArrival(piece, worker, head, files, hashes, seconds))
        return arrivals

    def log(self, worker: str) -> Path:
        return self.folder / "logs" / f"{worker}.log"

    def last_words(self, worker: str) -> str:
        """Return the last line that a worker printed."""
        with contextlib.suppress(OSError):
            lines = regular.content(self.log(worker)).decode(errors="replace").split("\n")
            return next((line.strip()[:300] for line in reversed(lines) if line.strip()), "")
        return ""

    def _file(self, piece: Piece, worker: str, name: str) -> Path:
        return self.folder / "files" / f"{piece}.{worker}.{name}"

    def _write_file(self, path: Path, parts: Iterable[bytes]) -> str:
        """Write a file durably, and return its SHA-256. It is visible under its name only with the outcome."""
        digest = hashlib.sha256()
        with path.open("wb") as file:
            for part in parts:
                file.write(part)
                digest.update(part)
            file.flush()
            os.fsync(file.fileno())
        return digest.hexdigest()

    def _write(self, path: Path, content: bytes) -> None:
        """Write a file that is visible only as a whole. It need not survive a power cut."""
        temporary = path.with_name(f".{path.name}")
        temporary.write_bytes(content)
        os.rename(temporary, path)


def _parsed(name: str) -> tuple[Piece, str]:
    model, place, unit, worker = name.split(".", 3)
    return Piece(int(model), int(place), unit), worker
