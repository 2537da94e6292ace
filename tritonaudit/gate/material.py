"""What the items of a gate are answered from: what the stages of an audit came to, of one subject."""

from __future__ import annotations

from dataclasses import dataclass

from tritonaudit.capture.launch import KernelRef
from tritonaudit.compile.facts import CompiledKernel
from tritonaudit.finding import Finding
from tritonaudit.gate.sources import Sources
from tritonaudit.history.entry import Data
from tritonaudit.measure.gather import MeasuredSubject
from tritonaudit.suites.gather import SubjectRun


@dataclass(frozen=True)
class Timings:
    """A subject as the history has it, and the device that it was timed on, None where it was not."""

    subject: Data
    device: str | None


@dataclass(frozen=True)
class Material:
    """All that is known of a subject.

    `kernels` are those that it launches, as compiled; `uncompiled` says why others are not among them. Where nothing
    was `measured`, `unmeasured` says why. `now` and `earlier` are what it and the result of stage 1 came to as the
    history has it, and where there is no `earlier` one, `no_earlier` says why.
    """

    run: SubjectRun
    sources: Sources
    kernels: tuple[CompiledKernel, ...] = ()
    uncompiled: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    wrapper: KernelRef | None = None
    measured: MeasuredSubject | None = None
    unmeasured: str = ""
    now: Timings | None = None
    earlier: Timings | None = None
    no_earlier: str = ""
