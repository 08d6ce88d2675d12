"""An executor whose workers are objects of this process, which work when the driver looks after them."""

from collections.abc import Callable, Mapping, Sequence

from syntagm.runs import Session, SharedFolder
from syntagm.runs.worker import Worker


class Here(SharedFolder):
    """Workers in this process. `before(number)` is called before each step; it returns what happens to the worker."""

    form = "here"

    def __init__(self, count: int = 2, before: Callable[[int], str] = lambda _: "") -> None:
        super().__init__("", {})
        self.text, self.count, self._before, self._steps = "here", count, before, 0
        self.workers: dict[str, Worker] = {}

    def start(self, workers: Sequence[str], session: Session) -> None:
        self.session = session
        self.workers |= {name: Worker(session, name, self.permissions) for name in workers}

    def ended(self) -> Mapping[str, str]:
        ended = {}
        for name, each in list(self.workers.items()):
            self._steps += 1
            if (fate := self._before(self._steps)) != "killed":
                each.step()
            elif each._taken():
                # Killed with a piece of work in its hands.
                ended[name] = "killed by SIGKILL"
                del self.workers[name]
            if fate == "killed late":
                ended[name] = "killed by SIGKILL"
                del self.workers[name]
        return ended

    def stop(self) -> None:
        self.workers.clear()
