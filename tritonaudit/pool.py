"""Work spread over processes, where a process that dies costs the one item that killed it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_CHUNKS_PER_WORKER = 8


def spread(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    workers: int,
    start: Callable[..., None],
    arguments: tuple[Any, ...],
) -> list[tuple[Item, Result | None]]:
    """Each item with what `work` makes of it, None for an item that killed its process; the order is any.

    `start(*arguments)` prepares a process; all of these must be picklable.
    """

    def executor(size: int) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(size, initializer=start, initargs=arguments)

    count = workers * _CHUNKS_PER_WORKER
    chunks = [items[first::count] for first in range(min(count, len(items)))]
    done, lost = _in_chunks(executor(workers), work, chunks)
    return done + _one_by_one(executor, work, lost)


def _each(work: Callable[[Item], Result], chunk: Sequence[Item]) -> list[tuple[Item, Result | None]]:
    return [(item, work(item)) for item in chunk]


def _in_chunks(
    executor: ProcessPoolExecutor, work: Callable[[Item], Result], chunks: Sequence[Sequence[Item]]
) -> tuple[list[tuple[Item, Result | None]], list[Item]]:
    """What the chunks came to, and the items of those whose process died."""
    done: list[tuple[Item, Result | None]] = []
    lost: list[Item] = []
    with executor as pool:
        futures: list[tuple[Future[list[tuple[Item, Result | None]]], Sequence[Item]]] = []
        for chunk in chunks:
            try:
                futures.append((pool.submit(_each, work, chunk), chunk))
            except BrokenProcessPool:
                lost.extend(chunk)
        for future, chunk in futures:
            try:
                done.extend(future.result())
            except BrokenProcessPool:
                lost.extend(chunk)
    return done, lost


def _one_by_one(
    executor: Callable[[int], ProcessPoolExecutor], work: Callable[[Item], Result], items: Sequence[Item]
) -> list[tuple[Item, Result | None]]:
    """The same in one process, which is replaced when it dies."""
    done: list[tuple[Item, Result | None]] = []
    waiting = list(items)
    while waiting:
        with executor(1) as pool:
            while waiting:
                item = waiting.pop(0)
                try:
                    done.extend(pool.submit(_each, work, [item]).result())
                except BrokenProcessPool:
                    done.append((item, None))
                    break
    return done
