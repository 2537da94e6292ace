"""Work spread over processes, where a process that dies costs the one item that killed it."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_CHUNKS_PER_WORKER = 8
_MOST_IN_A_CHUNK = 4  # what is done of a chunk is lost where the work is interrupted


def spread(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    workers: int,
    start: Callable[..., None],
    arguments: tuple[Any, ...],
) -> Iterator[tuple[Item, Result | None]]:
    """Each item with what `work` makes of it, None for an item that killed its process, in any order, as it is done.

    `start(*arguments)` prepares a process; all of these must be picklable. Whoever is interrupted, or asks for no more,
    leaves no process behind.
    """

    def executor(size: int) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(size, initializer=start, initargs=arguments)

    count = max(workers * _CHUNKS_PER_WORKER, -(-len(items) // _MOST_IN_A_CHUNK))
    chunks = [items[first::count] for first in range(min(count, len(items)))]
    lost: list[Item] = []
    if chunks:
        yield from _in_chunks(executor(workers), work, chunks, lost)
    yield from _one_by_one(executor, work, lost)


def _each(work: Callable[[Item], Result], chunk: Sequence[Item]) -> list[tuple[Item, Result | None]]:
    return [(item, work(item)) for item in chunk]


def _in_chunks(
    executor: ProcessPoolExecutor, work: Callable[[Item], Result], chunks: Sequence[Sequence[Item]], lost: list[Item]
) -> Iterator[tuple[Item, Result | None]]:
    """What the chunks come to; the items of those whose process died are added to `lost`."""
    with _ended(executor) as pool:
        futures: dict[Future[list[tuple[Item, Result | None]]], Sequence[Item]] = {}
        with _deaf():
            for chunk in chunks:
                try:
                    futures[pool.submit(_each, work, chunk)] = chunk
                except BrokenProcessPool:
                    lost.extend(chunk)
        for future in as_completed(futures):
            try:
                yield from future.result()
            except BrokenProcessPool:
                lost.extend(futures[future])


def _one_by_one(
    executor: Callable[[int], ProcessPoolExecutor], work: Callable[[Item], Result], items: Sequence[Item]
) -> Iterator[tuple[Item, Result | None]]:
    """The same in one process, which is replaced when it dies."""
    waiting = list(items)
    while waiting:
        with _ended(executor(1)) as pool:
            while waiting:
                item = waiting.pop(0)
                with _deaf():
                    future = pool.submit(_each, work, [item])
                try:
                    yield from future.result()
                except BrokenProcessPool:
                    yield item, None
                    break


@contextmanager
def _ended(executor: ProcessPoolExecutor) -> Iterator[ProcessPoolExecutor]:
    """Its processes end with the block: when they are done, or at once where the block is left in another way."""
    others = set(active_children())
    try:
        yield executor
    except BaseException:
        for process in set(active_children()) - others:
            process.kill()
        executor.shutdown(cancel_futures=True)
        raise
    executor.shutdown()


@contextmanager
def _deaf() -> Iterator[None]:
    """Processes that are started meanwhile do not hear Ctrl-C; who starts them does, afterwards."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
