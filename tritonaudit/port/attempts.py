"""Attempts to have a failed variant rewritten: each is kept, and tried as the variant was."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tritonaudit.port.folders import Operation
from tritonaudit.port.keeping import NotOurs, write_attempt
from tritonaudit.port.repairing import MOST_ATTEMPTS, Repairer, repaired, request_for
from tritonaudit.port.validating import Verdict
from tritonaudit.shown import shown_path

FOLDER = "attempts"


@dataclass(frozen=True)
class Attempt:
    """What an attempt came to: a file that was tried, with its verdict, or the `failure` to get one.

    What was written is kept at `path`, where anything was. `said` is the end of the command's standard error.
    """

    number: int
    path: Path | None = None
    failure: str = ""
    verdict: Verdict | None = None
    said: str = ""

    @property
    def is_right(self) -> bool:
        return self.verdict is not None and self.verdict.is_right


def attempts_at(
    operation: Operation,
    variant: Path,
    verdict: Verdict,
    repairer: Repairer,
    logs: Path,
    validate: Callable[[Path], Verdict],
) -> tuple[Attempt, ...]:
    """Attempts until one is right, at most `MOST_ATTEMPTS`; the command learns of the last file that was tried."""
    done: list[Attempt] = []
    file, failing = variant, verdict
    tried = {_bytes_of(variant)}
    for number in range(1, MOST_ATTEMPTS + 1):
        previous = done[-1].failure if done else ""
        source = _bytes_of(file).decode("utf-8", "replace")
        request = request_for(operation, shown_path(file), number, source, failing, previous)
        answer = repaired(repairer, request)
        try:
            kept = _kept(operation, variant, number, logs, answer.written)
        except (NotOurs, OSError) as error:
            done.append(Attempt(number, failure=f"what it wrote cannot be kept: {error}", said=answer.said))
            break
        failure = answer.failure
        if not failure and answer.written in tried:
            failure = "it wrote a file that was tried before"
        tried.add(answer.written)
        if failure or kept is None:
            done.append(Attempt(number, kept, failure, said=answer.said))
            continue
        file, failing = kept, validate(kept)
        done.append(Attempt(number, kept, verdict=failing, said=answer.said))
        if failing.is_right:
            break
    return tuple(done)


def _kept(operation: Operation, variant: Path, number: int, logs: Path, written: bytes) -> Path | None:
    if not written:
        return None
    folder = logs / FOLDER / f"{operation.name}_{variant.stem}_{number}"
    return write_attempt(folder, operation.folder, variant, written)


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
