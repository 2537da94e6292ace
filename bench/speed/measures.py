"""What the speed bench runs, and what it makes of the figures."""

from __future__ import annotations

import json
import random
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from bench.corpus import package
from bench.processes import Ran, run, tool, tritonaudit
from bench.speed.parsing import FILES

_FIXIT_RULE = "fixit.rules.no_static_if_condition:NoStaticIfCondition"
_FIXIT_FILES = 300
_FIXIT_SEED = 0
_ONE_FILE_LINES = 300
_SHORT_REPEATS = 5
_LIMIT = 3600.0


@dataclass
class Measure:
    """One thing that is run, and how often in a round; `codes` are the exit codes of a run that worked.

    What earlier runs kept is in the folder `kept`; without one, each run starts with nothing. `before` is done first.
    """

    key: str
    title: str
    command: Sequence[str | Path]
    codes: tuple[int, ...] = (0, 1)
    repeats: int = 1
    kept: Path | None = None
    before: Callable[[], None] = lambda: None
    runs: list[Ran] = field(default_factory=list)

    def go(self) -> None:
        """Run it for one round. Leaves with a message where it does not work."""
        for _ in range(self.repeats):
            self.before()
            with tempfile.TemporaryDirectory() as nothing:
                cache = str(self.kept or nothing)
                ran = run(self.command, limit=_LIMIT, variables={"TRITONAUDIT_CACHE": cache})
            if ran.code not in self.codes:
                sys.exit(f"{self.title}: exit code {ran.code}\n{ran.err.decode(errors='replace')[-2000:]}")
            self.runs.append(ran)

    @property
    def cpu(self) -> float:
        return median(ran.cpu for ran in self.runs)

    @property
    def wall(self) -> float:
        return median(ran.wall for ran in self.runs)

    @property
    def peak_mib(self) -> float:
        return max(ran.peak_mib for ran in self.runs)


@dataclass(frozen=True)
class Goal:
    """A figure that matters, and what is wanted of it."""

    title: str
    value: float
    unit: str
    limit: float
    at_least: bool = False

    @property
    def reached(self) -> bool:
        return self.value >= self.limit if self.at_least else self.value <= self.limit


@dataclass(frozen=True)
class Plan:
    """The measures of one corpus. `missing` says what could not be measured."""

    measures: tuple[Measure, ...]
    kernels: int
    files: int
    one_file: Path
    missing: tuple[str, ...]

    def of(self, key: str) -> Measure | None:
        return next((measure for measure in self.measures if measure.key == key), None)


def plan(corpus: Path, lists: Path) -> Plan:
    """What to run over a corpus. The kernels are listed by a process of its own: a small parent runs the measures."""
    listing = run(_parsing("list", corpus, lists), limit=_LIMIT)
    if listing.code != 0:
        sys.exit(listing.err.decode(errors="replace"))
    files: list[tuple[str, int, int]] = [tuple(entry) for entry in json.loads((lists / FILES).read_text())]
    paths = [path for path, _, _ in files]
    one_file = Path(min(files, key=lambda file: (abs(file[1] - _ONE_FILE_LINES), file[0]))[0])
    few = random.Random(_FIXIT_SEED).sample(paths, min(_FIXIT_FILES, len(paths)))
    measures = [
        Measure("corpus", "tritonaudit, corpus, --jobs 1", tritonaudit("check", "--jobs", "1", corpus)),
        Measure("corpus jobs", "tritonaudit, corpus, default jobs", tritonaudit("check", corpus)),
        Measure("files", "LibCST parse, kernel-holding files", _parsing("files", lists)),
        Measure("slices", "LibCST parse, kernel slices", _parsing("slices", lists)),
        Measure("few", f"tritonaudit, {len(few)} files, --jobs 1", tritonaudit("check", "--jobs", "1", *few)),
        Measure("version", "tritonaudit --version", tritonaudit("--version"), (0,), _SHORT_REPEATS),
        Measure("one file", "tritonaudit, one file", tritonaudit("check", one_file), repeats=_SHORT_REPEATS),
    ]
    others, missing = _others(corpus, few)
    measures.append(_warm(corpus, one_file, lists))
    return Plan((*measures, *others), sum(count for _, _, count in files), len(files), one_file, tuple(missing))


def _warm(corpus: Path, changed: Path, folder: Path) -> Measure:
    """All of a copy of the corpus again, after one file of it has changed."""
    copy, kept = folder / "copy", folder / "cache"
    shutil.copytree(corpus, copy, ignore=lambda at, names: [n for n in names if not _is_python(Path(at, n))])
    command = tritonaudit("check", copy)
    first = Measure("first", "tritonaudit, copy of the corpus", command, kept=kept)
    first.go()
    file = copy / changed.relative_to(corpus)

    def change() -> None:
        file.write_text(f"{file.read_text(encoding='utf-8')}# changed\n", encoding="utf-8")

    return Measure("warm", "tritonaudit, corpus, one file changed", command, repeats=3, kept=kept, before=change)


def _is_python(path: Path) -> bool:
    return path.is_dir() or path.suffix == ".py"


def _others(corpus: Path, few: Sequence[str]) -> tuple[list[Measure], list[str]]:
    """What other linters take, and what is missing for a comparison."""
    found: list[Measure] = []
    missing: list[str] = []
    torchao, ruff, fixit = package(corpus, "torchao"), tool("ruff"), tool("fixit")
    if torchao is None:
        missing.append("torchao is not in the corpus")
    else:
        command = tritonaudit("check", "--jobs", "1", torchao)
        found.append(Measure("torchao", "tritonaudit, torchao, --jobs 1", command))
    if ruff is None:
        missing.append("ruff is not installed")
    else:
        alone = (ruff, "check", "--isolated", "--no-cache")
        found.append(Measure("ruff", "ruff, corpus", (*alone, corpus)))
        if torchao is not None:
            found.append(Measure("ruff torchao", "ruff, torchao", (*alone, torchao)))
    if fixit is None:
        missing.append("Fixit is not installed")
    else:
        command = [fixit, "--quiet", "--rules", _FIXIT_RULE, "lint", *few]
        found.append(Measure("fixit", f"Fixit, one rule, {len(few)} files", command, (0, 1, 2, 3)))
    return found, missing


def carry_out(corpus: Path, rounds: int, tell: Callable[[str], None]) -> Plan:
    """Run everything once a round, each time in a fresh process."""
    with tempfile.TemporaryDirectory() as lists:
        planned = plan(corpus, Path(lists))
        for number in range(1, rounds + 1):
            for measure in planned.measures:
                tell(f"round {number} of {rounds}: {measure.title}")
                measure.go()
    return planned


def goals(planned: Plan) -> list[Goal]:
    """The figures that matter, of what could be measured."""
    found = [
        _ratio(planned, "tritonaudit / LibCST over the kernel slices (CPU)", "corpus", "slices", 3.5),
        _ratio(planned, "Fixit / tritonaudit on the same files (CPU)", "fixit", "few", 4, at_least=True),
        _ratio(planned, "tritonaudit / ruff on torchao (CPU)", "torchao", "ruff torchao", 8),
        _milliseconds(planned, "corpus, one file changed (wall)", "warm", 1000),
        _mebibytes(planned, "memory (peak)", "corpus", 600),
        _milliseconds(planned, "tritonaudit --version (wall)", "version", 150),
        _milliseconds(planned, "one file (wall)", "one file", 400),
    ]
    return [goal for goal in found if goal is not None]


def _ratio(planned: Plan, title: str, above: str, below: str, limit: float, at_least: bool = False) -> Goal | None:
    top, bottom = planned.of(above), planned.of(below)
    return None if top is None or bottom is None else Goal(title, top.cpu / bottom.cpu, "", limit, at_least)


def _mebibytes(planned: Plan, title: str, key: str, limit: float) -> Goal | None:
    measure = planned.of(key)
    return None if measure is None else Goal(title, measure.peak_mib, " MiB", limit)


def _milliseconds(planned: Plan, title: str, key: str, limit: float) -> Goal | None:
    measure = planned.of(key)
    return None if measure is None else Goal(title, measure.wall * 1000, " ms", limit)


def _parsing(*arguments: str | Path) -> list[str | Path]:
    return [sys.executable, "-m", "bench.speed.parsing", *arguments]
