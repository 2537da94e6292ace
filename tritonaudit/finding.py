"""The ground floor: what every stage of an audit yields, whichever stage it was.

A rule yields hits, the engine turns them into findings, a check leaves an outcome.
Nothing here imports anything of ours.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Severity(Enum):
    """How bad it is when the finding is true."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return list(Severity).index(self)


class Confidence(Enum):
    """How sure the rule is that the finding is true."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"

    @property
    def rank(self) -> int:
        """0 for the surest."""
        return list(Confidence).index(self)


class Category(Enum):
    """The five categories of the audit, and the tool's own; the value is the code's letter."""

    CORRECTNESS = "C"
    PERFORMANCE = "P"
    MEMORY = "M"
    STABILITY = "N"
    PRACTICE = "B"
    TOOL = "X"

    @property
    def title(self) -> str:
        return _TITLES[self]


_TITLES = {
    Category.CORRECTNESS: "Correctness",
    Category.PERFORMANCE: "Performance",
    Category.MEMORY: "Memory patterns",
    Category.STABILITY: "Numerical stability",
    Category.PRACTICE: "Best practices",
    Category.TOOL: "The tool itself",
}


class Stage(Enum):
    """Which stage finds it; the value is the hundreds digits of its codes."""

    SOURCE = "12"
    COMPILE = "3"
    RUN = "4"
    MEASURE = "5"


class Extent(Enum):
    """In what a rule says the same thing only once."""

    KERNEL = "kernel"
    FILE = "file"


class Cause(str, Enum):
    """A defect that several stages see, each in its own way: it is one finding, with the surest evidence."""

    OUT_OF_BOUNDS = "out-of-bounds"
    DOES_NOT_COMPILE = "does-not-compile"
    SPILL = "register-spill"

    def __str__(self) -> str:
        return self.value


class Status(Enum):
    """What a check came to. Not run is never a pass, and neither is what was tried in part."""

    PASS = "pass"
    WARN = "warn"
    FAIL = "fail"
    NOT_RUN = "not run"
    INCONCLUSIVE = "inconclusive"
    INCOMPLETE = "incomplete"


@dataclass(frozen=True, order=True)
class Span:
    """A stretch of a file: lines and columns count from 1, columns in code points, the end is exclusive.

    In a notebook it is a stretch of the cell of that number, and the lines are those of the cell.
    """

    line: int
    column: int
    end_line: int
    end_column: int
    cell: int | None = None

    @property
    def shown_line(self) -> str:
        """Where it starts, as it stands after a path: `12`, or `cell 3:12`."""
        return shown_line(self.line, self.cell)

    @property
    def shown_start(self) -> str:
        """The same with the column: `12:5`, or `cell 3:12:5`."""
        return f"{self.shown_line}:{self.column}"


def shown_line(line: int, cell: int | None) -> str:
    """A line as it stands after a path: `12`, or `cell 3:12`."""
    return str(line) if cell is None else f"cell {cell}:{line}"


def place_of(problem: Problem) -> str:
    """Where it is: `path`, `path:12`, or `path:cell 3:12`."""
    return problem.path if problem.line is None else f"{problem.path}:{shown_line(problem.line, problem.cell)}"


def sentence_of(problem: Problem) -> str:
    """Where it is, and what it is, in one line."""
    return f"{place_of(problem)}: {problem.message}"


@dataclass(frozen=True)
class Elsewhere:
    """A stretch of another file than the one that is spoken of; its path is absolute."""

    path: str
    span: Span


Place = Span | Elsewhere


@dataclass(frozen=True)
class Edit:
    """Replace the text at `span` by `replacement`."""

    span: Span
    replacement: str


@dataclass(frozen=True)
class Fix:
    """Edits that fix a finding; `safe` when they cannot change a correct kernel's meaning."""

    message: str
    edits: tuple[Edit, ...]
    safe: bool


@dataclass(frozen=True)
class Witness:
    """What anyone can rerun to see the finding happen."""

    description: str
    command: str | None = None


@dataclass(frozen=True)
class Related:
    """Another place that explains a finding."""

    path: str
    span: Span
    message: str


@dataclass(frozen=True)
class Finding:
    """One defect at one expression.

    `message` is one sentence that names the operand; `remedy` says what to write instead.
    `expression` is the source of the expression with its whitespace folded, `ordinal` its number among equal
    ones of the file: with the code (or the cause that several stages share) and the kernel they are the
    finding's identity, which survives edits elsewhere in the file. `in_baseline` says whether a baseline holds it,
    None where there is no baseline. What has the same message is reported once in what `once_in` names. `way` are the
    places through which execution comes to it, from the launch on, where they are known.
    """

    code: str
    name: str
    severity: Severity
    confidence: Confidence
    message: str
    path: str
    span: Span
    kernel: str | None = None
    remedy: str | None = None
    related: tuple[Related, ...] = ()
    fix: Fix | None = None
    witness: Witness | None = None
    cause: str | None = None
    expression: str = ""
    ordinal: int = 0
    in_baseline: bool | None = None
    once_in: Extent | None = None
    way: tuple[Related, ...] = ()

    @property
    def category(self) -> Category:
        return Category(self.code[2])

    @property
    def identity(self) -> tuple[str, str, str, int]:
        return (self.cause or self.code, self.kernel or "", self.expression, self.ordinal)

    @property
    def stage(self) -> Stage:
        """The stage that finds it; the tool's own belong to the source stage."""
        return next((stage for stage in Stage if self.code[3] in stage.value), Stage.SOURCE)

    @property
    def fingerprint(self) -> str:
        """64 bits of the identity, in hexadecimal; compare it within one path."""
        return hashlib.sha256("\0".join(map(str, self.identity)).encode()).hexdigest()[:16]

    @property
    def sort_key(self) -> tuple[str, int, Span, str, str]:
        return (self.path, self.span.cell or 0, self.span, self.code, self.message)


ALL_FILES = "all files"
EVERY_KERNEL = "every kernel"
EVERYTHING = frozenset((ALL_FILES, EVERY_KERNEL))
"""Subjects of outcomes that do not begin with a path."""


@dataclass(frozen=True)
class Outcome:
    """What a check came to on a subject: passes and checks that did not run are recorded, not implied.

    `check` names what was asked, `subject` what of (a file, a kernel, a launch), `case` which variant of it;
    `reason` says why when it did not run or cannot tell.
    """

    check: str
    subject: str
    status: Status
    case: str = ""
    reason: str = ""
    measurements: tuple[tuple[str, Any], ...] = ()
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Problem:
    """Something that could not be read or done. It makes the exit code 2; the rest is still reported.

    `path` is that of a file or a folder, or names what it is about where it is not `in_file`.
    """

    path: str
    message: str
    line: int | None = None
    cell: int | None = None
    in_file: bool = True

    @property
    def full_message(self) -> str:
        """The message as it stands beside a path."""
        return self.message if self.in_file else f"{self.path}: {self.message}"


@dataclass(frozen=True)
class Audit:
    """All that a run learnt. `texts` holds the text (newlines as `\\n`) of every file with a finding, by its path.

    Of a notebook that is the text of its file, while the place of a finding is in a cell. `unread` counts the files,
    among the others, of which nothing could be read.

    `fixed` and `suppressed` count the findings that were so in this run, `known` those that a baseline holds, `earlier`
    those that an earlier revision had: none of these is among the others.
    """

    findings: tuple[Finding, ...] = ()
    problems: tuple[Problem, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    texts: dict[str, str] = field(default_factory=dict)
    files: int = 0
    kernels: int = 0
    fixed: int = 0
    suppressed: int = 0
    known: int = 0
    earlier: int = 0
    unread: int = 0
