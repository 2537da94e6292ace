"""Tasks run in isolated worker processes: each comes to its result, or to what killed it, and the rest goes on."""

from __future__ import annotations

import math
import os
import pickle
import select
import selectors
import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from tritonaudit.data import NotData, decode, given_by
from tritonaudit.execute.blame import described
from tritonaudit.execute.descriptors import open_pipe
from tritonaudit.execute.hired import MAX_PATIENCE, Hired
from tritonaudit.execute.killed import End, Killed
from tritonaudit.execute.limits import MOST_PROCESSES
from tritonaudit.execute.messages import Note, Waited, unpacked
from tritonaudit.execute.reserve import Reserve
from tritonaudit.execute.supervisor import ASKED_TO_END, OUT_OF_MEMORY, TOO_MANY_PROCESSES, TOO_MUCH_WRITTEN

Item = TypeVar("Item")
Result = TypeVar("Result")

_GRACE_SECONDS = 5.0  # from the end of a worker's pipe to the worker's own
_MOST_WORDS = 100_000  # that a task says before it replies
_CANCEL_SECONDS = 0.5  # until a thread that is not the main one hears that it is to end
_OWN_FAULTS = frozenset((signal.SIGSEGV, signal.SIGABRT, signal.SIGILL, signal.SIGFPE, signal.SIGBUS, signal.SIGTRAP))


@dataclass(frozen=True)
class Limits:
    """What a task may take: `seconds` of wall time; `memory` in bytes, of its worker and the worker's children.

    Its folder may hold as many bytes, and so may each file that it writes.

    `start` is the seconds that a worker may take to start and to be prepared. Memory is what is held, not what is
    reserved nor what all workers share from their start, and is not limited where there is no /proc.
    """

    seconds: float
    memory: int
    start: float = 60.0


class _Cancelling:
    """Whether pools are to end, and how many blocks there are that may say so."""

    def __init__(self) -> None:
        self.is_cancelled = threading.Event()
        self.lock = threading.Lock()
        self.blocks = 0


_cancelling = _Cancelling()


@contextmanager
def cancelling() -> Iterator[Callable[[], None]]:
    """Inside it, the function that is given has the pools of other threads than the main one end as if interrupted.

    They do until the last of such blocks has been left.
    """
    with _cancelling.lock:
        _cancelling.blocks += 1
    try:
        yield _cancelling.is_cancelled.set
    finally:
        with _cancelling.lock:
            _cancelling.blocks -= 1
            if not _cancelling.blocks:
                _cancelling.is_cancelled.clear()


class Feed(Generic[Item]):
    """Items of which more may be added, by any thread, until it is closed; a pool waits for them with ready workers."""

    def __init__(self, items: Iterable[Item] = ()) -> None:
        self._items = deque(items)
        self._is_open = True
        self._lock = threading.Lock()
        self._woken, self._waking = open_pipe()
        os.set_blocking(self._woken, False)
        os.set_blocking(self._waking, False)

    def __enter__(self) -> Feed[Item]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        with self._lock:
            os.close(self._woken)
            os.close(self._waking)
            self._waking = -1

    def add(self, item: Item) -> None:
        """Have it done, too; one that comes after the closing is not done."""
        with self._lock:
            self._items.append(item)
            self._wake()

    def close(self) -> None:
        """There will be no more."""
        with self._lock:
            self._is_open = False
            self._wake()

    def _wake(self) -> None:
        if self._waking >= 0:
            with suppress(BlockingIOError):
                os.write(self._waking, b".")

    def wait_until_closed(self) -> None:
        """Return once there will be no more; nobody else may be taking them."""
        while self.taken()[1]:
            select.select((self,), (), ())
            self.heard()

    def taken(self) -> tuple[list[Item], bool]:
        """What has been added since it was asked, and whether there may be more."""
        with self._lock:
            items = list(self._items)
            self._items.clear()
            return items, self._is_open

    def fileno(self) -> int:
        """Readable once something has been added."""
        return self._woken

    def heard(self) -> None:
        """Be no longer readable."""
        with suppress(BlockingIOError):
            os.read(self._woken, 1 << 16)


def run_tasks(
    work: Callable[[Item], Result],
    items: Sequence[Item] | Feed[Item],
    *,
    workers: int,
    limits: Limits,
    prepare: Callable[..., None] | None = None,
    arguments: tuple[Any, ...] | Callable[[Item], tuple[Any, ...]] = (),
    hear: Callable[[Item, Any], None] | None = None,
    hears: Any = Any,
    is_fresh: bool = False,
    reserve: Reserve | None = None,
    kin: Callable[[Item], str] = lambda _: "",
) -> Iterator[tuple[Item, Result | Killed]]:
    """Each item with `work(item)`, or with what killed it, as they finish; the items are done in their order.

    `prepare(*arguments)` is called once in each worker; where none can be prepared, every item comes to that. A worker
    is kept for the next task, which sees what this one changed in its modules, unless the task was killed or left
    processes, threads or much memory behind. It ends without its `atexit` functions. All of these must be picklable,
    and `work` and `prepare` not of the module `__main__`. Where items need differently prepared workers, `arguments`
    says of each which ones: workers do only what they are prepared for.

    With a `reserve` workers come from there, and go there when nothing is left for them, to be kept for items of other
    calls that have the same `kin` as all that they have done; what has an empty one is akin to nothing.

    What comes from a worker is data, whatever the user's code has done to it: results are of the type that `work`
    declares to give. What a task says by `worker.send_note` before it ends is heard at once, by `hear(item, content)`
    in this process, and is of the type that it `hears`. A worker may have imported torch, triton and modules of ours
    when it starts; a fresh one has not.
    """
    if workers < 1:
        raise ValueError(f"workers must be at least 1, not {workers}")

    def order_of(item: Item) -> bytes:
        return pickle.dumps((work, prepare, arguments(item) if callable(arguments) else arguments))

    kinds = _Kinds(given_by(work), hears)
    return _Pool[Item, Result](order_of, items, workers, limits, hear, kinds, is_fresh, reserve, kin).results()


@dataclass(frozen=True)
class _Kinds:
    """The types of what workers give and of what they say."""

    gives: Any
    says: Any


class _Pool(Generic[Item, Result]):
    def __init__(
        self,
        order_of: Callable[[Item], bytes],
        items: Sequence[Item] | Feed[Item],
        workers: int,
        limits: Limits,
        hear: Callable[[Item, Any], None] | None,
        kinds: _Kinds,
        is_fresh: bool,
        reserve: Reserve | None,
        kin: Callable[[Item], str],
    ) -> None:
        self._order_of = order_of
        self._feed = items if isinstance(items, Feed) else None
        self._is_open = self._feed is not None
        self._waiting: deque[tuple[bytes, Item]] = deque()
        if not isinstance(items, Feed):
            self._take(items)
        self._size = workers
        self._limits = limits
        self._hear = hear
        self._kinds = kinds
        self._is_fresh = is_fresh
        self._reserve = reserve
        self._kin = kin
        self._workers: list[Hired] = []
        self._idle: list[Hired] = []
        self._leaving: list[Hired] = []
        self._tasks: dict[Hired, Item] = {}
        self._finished: list[tuple[Item, Result | Killed]] = []
        self._any_ready = False
        self._unable: Killed | None = None

    def results(self) -> Iterator[tuple[Item, Result | Killed]]:
        with selectors.DefaultSelector() as selector:
            if self._feed is not None:
                selector.register(self._feed, selectors.EVENT_READ)
            try:
                self._refill(selector)
                while self._workers or self._is_open:
                    self._turn(selector)
                    self._refill(selector)
                    finished, self._finished = self._finished, []
                    yield from finished
                if self._unable:
                    yield from ((item, self._unable) for _, item in self._waiting)
            finally:
                for worker in (*self._workers, *self._leaving):
                    worker.ask_to_end()
                for worker in (*self._workers, *self._leaving):
                    worker.close()

    def _take(self, items: Iterable[Item]) -> None:
        self._waiting.extend((self._order_of(item), item) for item in items)

    def _refill(self, selector: selectors.BaseSelector) -> None:
        """Take what has been added, and see that there are workers for it."""
        if self._feed is not None and self._is_open:
            added, self._is_open = self._feed.taken()
            self._take(added)
        if self._waiting or not self._is_open:
            idle, self._idle = self._idle, []
            for worker in idle:
                self._employ(worker, spent=False)
        self._hire(selector)
        if self._unable and not self._any_ready and self._is_open:
            self._finished += [(item, self._unable) for _, item in self._waiting]
            self._waiting.clear()

    def _hire(self, selector: selectors.BaseSelector) -> None:
        """See that there is a worker for each waiting item, as far as there may be more."""
        for worker in [one for one in self._hired(selector) if one.ready]:
            self._employ(worker, spent=False)

    def _hired(self, selector: selectors.BaseSelector) -> Iterator[Hired]:
        """Those that come for them: ready ones from the reserve, or new ones where starting one is known to work."""
        starting = Counter(worker.order for worker in self._workers if not worker.ready)
        for order, item in self._waiting:
            if self._unable and not self._any_ready:
                return
            if starting[order]:
                starting[order] -= 1
                continue
            if len(self._workers) >= self._size and not self._dismiss():
                return
            while self._leaving:  # what they hold is needed
                self._leaving.pop().close()
            worker = self._from_reserve(order, item, selector)
            if worker is None:
                limits = self._limits
                worker = Hired(order, limits.memory, limits.start, selector, is_fresh=self._is_fresh)
            self._workers.append(worker)
            yield worker

    def _from_reserve(self, order: bytes, item: Item, selector: selectors.BaseSelector) -> Hired | None:
        if self._reserve is None or self._is_fresh or not (kin := self._kin(item)):
            return None
        if (worker := self._reserve.taken(order, self._limits.memory, kin)) is not None:
            worker.join(selector)
            self._any_ready = True
        return worker

    def _dismiss(self) -> bool:
        """Let an idle worker go, which is prepared for nothing that waits; False where there is none."""
        if not self._idle:
            return False
        self._let_go(self._idle.pop(), spent=False)
        return True

    def _let_go(self, worker: Hired, *, spent: bool) -> None:
        self._workers.remove(worker)
        if self._reserve is not None and worker.kin and not spent:
            worker.leave()
            self._reserve.keep(worker)
            return
        self._leaving.append(worker)
        worker.ask_to_end()

    def _turn(self, selector: selectors.BaseSelector) -> None:
        """Wait for something to happen, and see to it.

        Who takes our results may have kept us waiting: only a worker that is late and has not replied by now is lost.
        """
        busy = [worker for worker in self._workers if worker not in self._idle]
        patience = min((worker.deadline for worker in busy), default=math.inf) - time.monotonic()
        if threading.current_thread() is not threading.main_thread():
            patience = min(patience, _CANCEL_SECONDS)
            if _cancelling.is_cancelled.is_set():
                raise KeyboardInterrupt
        events = selector.select(min(max(patience, 0), MAX_PATIENCE))
        now = time.monotonic()
        active = {key.data for key, _ in events}
        for worker in [worker for worker in busy if worker.deadline <= now and worker not in active]:
            self._lose(worker, End.TIMEOUT, f"took longer than {worker.seconds:g} s")
        for key, event in events:
            if key.data is None:
                assert self._feed is not None
                self._feed.heard()
            elif event == selectors.EVENT_WRITE:
                key.data.send_more()
        for key, event in events:
            if key.data is not None and event == selectors.EVENT_READ:
                self._receive(key.data)

    def _receive(self, worker: Hired) -> None:
        try:
            worker.receive()
        except EOFError:
            self._lose(worker, *self._obituary(worker))
            return
        try:
            while (message := worker.next_message()) is not None:
                if not self._heed(worker, message):
                    return
        except NotData as error:
            self._lose(worker, End.RAISED, f"said what cannot be read: {error}")

    def _heed(self, worker: Hired, message: bytes) -> bool:
        """See to what a worker sent; False where no more is to be had of it."""
        said = unpacked(message)
        if isinstance(said, Note):
            content = decode(self._kinds.says, said.content)
            worker.wait_for(said.seconds)
            worker.words += 1
            if worker.words > _MOST_WORDS:
                raise NotData(f"more than {_MOST_WORDS:,} messages")
            if self._hear is not None and worker in self._tasks:
                self._hear(self._tasks[worker], content)
            return True
        if isinstance(said, Waited):
            worker.bear_with(said.waited, said.seconds)
            return True
        if not worker.mark or said.answers != worker.mark:
            raise NotData("an answer to nothing that was asked")
        worker.mark = ""
        if worker.ready:
            outcome = worker.killed(said.end, said.message) if said.end else decode(self._kinds.gives, said.content)
            self._finished.append((self._tasks.pop(worker), outcome))
        elif said.end:
            self._lose(worker, said.end, said.message)
            return False
        worker.ready = self._any_ready = True
        self._employ(worker, said.spent)
        return worker in self._workers

    def _employ(self, worker: Hired, spent: bool) -> None:
        """Give the worker the next task that it is prepared for, or have it wait for one, or let it go."""
        while not spent and (item := self._next_for(worker)) is not None:
            try:
                message = pickle.dumps(item[0], pickle.HIGHEST_PROTOCOL)
            except Exception as error:
                killed = Killed(End.RAISED, f"cannot be pickled: {described(error)}", "")
                self._finished.append((item[0], killed))
                continue
            self._tasks[worker] = item[0]
            if self._reserve is not None:
                worker.do(self._kin(item[0]))
            worker.send(message, self._limits.seconds)
            return
        if self._is_open and not spent:
            self._idle.append(worker)
        else:
            self._let_go(worker, spent=spent)

    def _next_for(self, worker: Hired) -> tuple[Item] | None:
        """What waits first of what it is prepared for."""
        for number, (order, item) in enumerate(self._waiting):
            if order == worker.order:
                del self._waiting[number]
                return (item,)
        return None

    def _obituary(self, worker: Hired) -> tuple[End, str]:
        """What ended a worker that has closed its pipe."""
        code = worker.end(_GRACE_SECONDS)
        if code is None:
            return End.LOST, "closed the pipe that its result goes through"
        if code == OUT_OF_MEMORY:
            return End.MEMORY, f"held more than {self._limits.memory / 2**30:.3g} GiB of memory"
        if code == TOO_MANY_PROCESSES:
            return End.EXCESS, f"started more than {MOST_PROCESSES} processes"
        if code == TOO_MUCH_WRITTEN:
            return End.EXCESS, f"wrote more than {self._limits.memory / 2**30:.3g} GiB, or a million files"
        if code == ASKED_TO_END:
            return End.LOST, "ended with the process that it was forked from"
        return _described_end(int(code))

    def _lose(self, worker: Hired, end: End, message: str) -> None:
        """Take leave of a worker that is of no more use; its task, or for one that never got ready the next, pays."""
        worker.end(0)
        self._workers.remove(worker)
        if worker in self._idle:
            self._idle.remove(worker)
        elif worker.ready:
            if worker in self._tasks:
                self._finished.append((self._tasks.pop(worker), worker.killed(end, message)))
        else:
            self._unable = worker.killed(end, f"its worker could not start: {message}")
            if (item := self._next_for(worker)) is not None:
                self._finished.append((item[0], self._unable))
        worker.close()


def _described_end(code: int) -> tuple[End, str]:
    if code >= 0:
        return End.EXIT, f"exited with code {code}"
    try:
        name = f" ({signal.Signals(-code).name})"
    except ValueError:
        name = ""
    if -code == signal.SIGXCPU:
        return End.TIMEOUT, "took more processor time than it may"
    reason = ", as the kernel does when the machine runs out of memory" if -code == signal.SIGKILL else ""
    end = End.CRASH if -code in _OWN_FAULTS else End.LOST
    return end, f"killed by signal {-code}{name}{reason}"
