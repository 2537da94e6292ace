"""What the source stage tells of mutants: many of a file in one process, which has neither torch nor triton."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from bench.judge.faults.mutants import Target, mutants
from bench.judge.faults.trying import Task, Tried
from tritonaudit.config import Config
from tritonaudit.engine import text_checker
from tritonaudit.finding import Finding


@dataclass(frozen=True)
class Asked:
    """Functions of a package, and the numbers of those mutants of each that are to be looked at."""

    targets: tuple[tuple[Target, tuple[int, ...]], ...]
    root: Path
    seed: int
    most: int


@dataclass(frozen=True)
class Detected:
    """The rules that tell of each mutant, by the numbers of its target and its own; the findings without a fault."""

    rules: tuple[tuple[int, int, tuple[str, ...]], ...]
    noise: tuple[tuple[str, str], ...]
    reason: str = ""


def asked_of(task: Task, tried: Tried) -> Asked:
    """Those mutants of a task that are faulty, or that Triton refuses."""
    wanted = [one.number for one in tried.trials if one.is_faulty or one.outcome == "compile"]
    numbers = (tuple(number for place, number in wanted if place == at) for at in range(len(task.targets)))
    targets = tuple(zip(task.targets, numbers, strict=True)) if tried.trials else ()
    return Asked(targets, task.root, task.seed, task.most)


def with_detected(tried: Tried, detected: Detected) -> Tried:
    """The trials with what is detected in them."""
    rules = {(place, number): codes for place, number, codes in detected.rules}
    trials = tuple(replace(one, detected=rules.get(one.number, ())) for one in tried.trials)
    return replace(tried, trials=trials, reason=tried.reason or detected.reason)


def tell(asked: Asked) -> Detected:
    """For worker processes."""
    rules, noise = [], []
    for place, (target, wanted) in enumerate(asked.targets):
        source = _source(Path(target.path), asked.root)
        noise += source.noise(target)
        for number, mutant in enumerate(mutants(source.text, target, asked.seed, asked.most)):
            if number in wanted:
                rules.append((place, number, source.detected(mutant.text)))
    return Detected(tuple(rules), tuple(noise))


class _Source:
    """What the rules say of a file, as it is and with a fault."""

    def __init__(self, path: Path, root: Path) -> None:
        self._path = path
        self.text = path.read_text(encoding="utf-8")
        self._check = text_checker(Config(root))
        self._found = self._findings(self.text)
        self._before = _counted(self._found)
        self._known: dict[str, tuple[str, ...]] = {}

    def detected(self, text: str) -> tuple[str, ...]:
        """The codes of the rules with more findings in a kernel than before."""
        if text not in self._known:
            more = _counted(self._findings(text)) - self._before
            self._known[text] = tuple(sorted({code for code, _ in more}))
        return self._known[text]

    def noise(self, target: Target) -> list[tuple[str, str]]:
        """The findings on the untouched kernel, where that is the target."""
        named = [one for one in self._found if one.kernel == target.name] if target.is_kernel else []
        return [(one.code, one.severity.value) for one in named]

    def _findings(self, text: str) -> tuple[Finding, ...]:
        return tuple(self._check(text.encode(), self._path).findings)


@lru_cache(maxsize=4)
def _source(path: Path, root: Path) -> _Source:
    return _Source(path, root)


def _counted(findings: tuple[Finding, ...]) -> Counter[tuple[str, str]]:
    return Counter((one.code, one.kernel or "") for one in findings)
