"""From the rows of a subject to facts for rules and outcomes of checks. Imports neither torch nor triton."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tritonaudit.capture.launch import KernelRef
from tritonaudit.compile.phrases import counted
from tritonaudit.compile.places import Places
from tritonaudit.finding import Outcome, Status
from tritonaudit.hardware.parts import Part
from tritonaudit.hardware.roofline import Roofline
from tritonaudit.measure.checks import Check
from tritonaudit.measure.facts import Gpu, MeasuredKernel, Profile, Role, Row
from tritonaudit.measure.rates import bandwidth_of, rate_of
from tritonaudit.shown import shown_path

IMPOSSIBLE = "faster than the GPU can be"


@dataclass(frozen=True)
class MeasuredSubject:
    """What measuring a subject came to: its rows in their order, and the kernels that it launches.

    `kernel` is what findings blame: the kernel where there is one alone, else the wrapper.
    """

    path: Path
    name: str
    rows: tuple[Row, ...]
    kernel: KernelRef | None = None
    launched: tuple[KernelRef, ...] = ()
    profiles: tuple[Profile, ...] = ()
    reason: str = ""

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """What each check came to."""
        place = f"{shown_path(self.path)}: {self.name}"
        return tuple(Outcome(check.value, place, *reported) for check, reported in self._reported())

    def _reported(self) -> Iterator[tuple[Check, tuple[Status, str, str]]]:
        yield Check.TIMED, self._timed()
        yield Check.PYTORCH, self._compared(Role.PYTORCH, "the subject has no reference")
        yield Check.COMPILED, self._compared(Role.COMPILED, "the subject has no reference")
        if any(one.role is Role.BASELINE for row in self.rows for one in row.timed):
            yield Check.BASELINES, self._compared(Role.BASELINE, "")
        yield Check.VERIFIED, self._verified()
        yield Check.ROOFLINE, self._held()
        yield Check.PROFILED, self._profiled()

    def _timed(self) -> tuple[Status, str, str]:
        had = [row for row in self.rows if row.timed]
        missed = [row for row in self.rows if not row.timed]
        if not had:
            failed = next((row for row in self.rows if row.status is Status.FAIL), None)
            return (Status.FAIL if failed else Status.NOT_RUN), "", (failed.reason if failed else self._why())
        worst = next((row for row in had if row.status is Status.FAIL), None)
        worst = worst or next((row for row in had if row.status is Status.WARN), None)
        status, reasons = (worst.status, [worst.reason]) if worst else (Status.PASS, [])
        if missed:
            reasons.append(f"{counted(len(missed), 'size')} not timed: {missed[0].reason}")
        elif self.reason:
            reasons.append(f"the rest: {self.reason}")
        return status, counted(len(had), "size"), "; ".join(reasons)

    def _compared(self, role: Role, unnamed: str) -> tuple[Status, str, str]:
        found = [one for row in self.rows for one in row.timed if one.role is role]
        if had := [one for one in found if one.speedup is not None]:
            return Status.PASS, counted(len(had), "size"), ""
        if found:
            return Status.NOT_RUN, "", found[0].reason or "the times are unstable"
        return Status.NOT_RUN, "", unnamed if any(row.timed for row in self.rows) else self._why()

    def _verified(self) -> tuple[Status, str, str]:
        had = [row for row in self.rows if row.timed]
        if wrong := [row for row in had if row.status is Status.FAIL and not row.reason.endswith(IMPOSSIBLE)]:
            return Status.FAIL, counted(len(had), "size"), wrong[0].reason
        if missed := [row for row in had if "not verified" in row.reason]:
            return Status.NOT_RUN, "", missed[0].reason
        return (Status.PASS, counted(len(had), "size"), "") if had else (Status.NOT_RUN, "", self._why())

    def _held(self) -> tuple[Status, str, str]:
        held = [row.roofline for row in self.rows if row.roofline is not None and row.timed]
        known = [one for one in held if one.reached is not None]
        if any(row.by_datasheet is not None and row.by_datasheet.is_impossible for row in self.rows):
            return Status.FAIL, counted(len(held), "size"), IMPOSSIBLE
        if known:
            return Status.PASS, counted(len(known), "size"), ""
        missing = ", ".join(held[0].missing) if held else ""
        return Status.NOT_RUN, "", f"unknown: {missing}" if missing else self._why()

    def _profiled(self) -> tuple[Status, str, str]:
        had = [profile for profile in self.profiles if profile.counters]
        if had:
            return Status.PASS, f"{len(had)} launches", ""
        if self.profiles:
            return Status.NOT_RUN, "", self.profiles[0].reason
        calls_none = not self.launched and any(row.timed for row in self.rows)
        return Status.NOT_RUN, "", "it launches no kernel of Triton" if calls_none else self._why()

    def _why(self) -> str:
        return self.reason or next((row.reason for row in self.rows if row.reason), "it has no sizes")


def held_against(row: Row, gpu: Gpu, part: Part) -> Row:
    """The row with its rooflines; one that is faster than the part's datasheet allows is refused."""
    subject = row.of(Role.SUBJECT)
    if row.work is None or subject is None or subject.device is None:
        return row
    time = subject.device.median
    measured = Roofline(row.work, bandwidth_of(row.work, gpu.ceilings), rate_of(row.work, gpu.ceilings), time)
    stated = part.roofline(row.work, time)
    held = replace(row, roofline=measured, by_datasheet=stated)
    if row.status is Status.FAIL or not stated.is_impossible:
        return held
    return held.refused(IMPOSSIBLE)


def facts_of(subject: MeasuredSubject, gpu: Gpu) -> MeasuredKernel | None:
    """What rules read of a subject; None where no kernel of it is known."""
    if subject.kernel is None:
        return None
    kernel = subject.kernel
    span = Places().name(kernel.path, kernel.line)
    path = kernel.path or str(subject.path)
    return MeasuredKernel(path, kernel.name, span, subject.name, gpu, subject.rows, subject.profiles)
