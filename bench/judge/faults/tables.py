"""The tables of injected faults."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from bench.judge.faults.detecting import Detected
from bench.judge.faults.operators import ONLY_COUNTED, WORKED_ON
from bench.judge.faults.trying import Trial, Tried


def operators(trials: Sequence[Trial]) -> str:
    """By operator: mutants, faults, and by whom these are detected."""
    head = (
        "| operator | class | mutants | unreached | alike | equal | harmless | rounding | refused by Triton | Python "
        "| unknown | faulty | detected by the source | of those refused too "
        "| detected by the engine without a reference |"
    )
    lines = [head, "|---" * 15 + "|"]
    for title, half in (("worked on", WORKED_ON), ("only counted", ONLY_COUNTED)):
        for operator in half:
            lines.append(_row(operator.name, operator.kind, [one for one in trials if one.operator == operator.name]))
        names = {operator.name for operator in half}
        lines.append(_row(f"**{title}**", "", [one for one in trials if one.operator in names]))
    lines.append(_row("**all**", "", trials))
    kernels = {(one.path, one.kernel) for one in trials if one.is_faulty}
    packages = {_package(one) for one in trials if one.is_faulty}
    return "\n".join((*lines, "", f"faulty mutants of {len(kernels)} kernels of {len(packages)} packages"))


def classes(trials: Sequence[Trial]) -> dict[str, dict[str, int]]:
    """Of each operator its faults, and how many of them the source tells of."""
    found: dict[str, dict[str, int]] = {}
    for operator in (*WORKED_ON, *ONLY_COUNTED):
        faulty = [one for one in trials if one.operator == operator.name and one.is_faulty]
        detected = sum(bool(one.detected) for one in faulty)
        found[operator.name] = {"faults": len(faulty), "source": detected}
    return found


def rules(trials: Sequence[Trial]) -> str:
    """By rule: the faults that it tells of, by operator."""
    detected = Counter((rule, one.operator) for one in trials if one.is_faulty for rule in one.detected)
    lines = ["| rule | faults | operators |", "|---|---|---|"]
    for rule in sorted({rule for rule, _ in detected}):
        by = {operator: number for (one, operator), number in detected.items() if one == rule}
        shown = ", ".join(f"{name} {number}" for name, number in sorted(by.items(), key=lambda pair: -pair[1]))
        lines.append(f"| {rule} | {sum(by.values())} | {shown} |")
    return "\n".join(lines)


def noise(detected: Sequence[Detected]) -> str:
    """The findings on the untouched kernels, which run without a fault."""
    found = Counter(pair for one in detected for pair in one.noise)
    lines = ["| rule | severity | findings on untouched kernels |", "|---|---|---|"]
    lines += [f"| {code} | {severity} | {number} |" for (code, severity), number in sorted(found.items())]
    return "\n".join((*lines, "", f"{sum(found.values())} findings on untouched kernels"))


def growth(trials: Sequence[Trial]) -> str:
    """How the share that is detected changes with the kernels that are tried."""
    kernels = list(dict.fromkeys((one.path, one.kernel) for one in trials))
    lines = ["| kernels | faulty | detected by the source |", "|---|---|---|"]
    for count in _steps(len(kernels)):
        some = set(kernels[:count])
        faulty = [one for one in trials if one.is_faulty and (one.path, one.kernel) in some]
        lines.append(f"| {count} | {len(faulty)} | {_share(sum(bool(one.detected) for one in faulty), len(faulty))} |")
    return "\n".join(lines)


def time_taken(tried: Sequence[Tried], jobs: int, seconds: float) -> str:
    """How the time of workers grows with the kernels, and what it was on the clock with so many of them."""
    lines = ["| kernels | mutants | seconds of workers | a mutant |", "|---|---|---|---|"]
    kernels: set[tuple[str, str]] = set()
    mutants, spent = 0, 0.0
    ends = list(_steps(len({(trial.path, trial.kernel) for one in tried for trial in one.trials})))
    for one in tried:
        kernels |= {(trial.path, trial.kernel) for trial in one.trials}
        mutants, spent = mutants + len(one.trials), spent + one.seconds
        while ends and len(kernels) >= ends[0] and (len(ends) > 1 or one is tried[-1]):
            lines.append(f"| {len(kernels)} | {mutants} | {spent:.0f} | {spent / max(1, mutants):.2f} |")
            ends.pop(0)
    return "\n".join((*lines, "", f"{seconds:.0f} s on the clock with {jobs} workers, what was kept included"))


def _steps(count: int) -> Iterator[int]:
    step = 25
    while step < count:
        yield step
        step *= 2
    yield count


def _row(name: str, kind: str, trials: Sequence[Trial]) -> str:
    by = Counter(one.outcome for one in trials)
    faulty = [one for one in trials if one.is_faulty]
    detected = sum(bool(one.detected) for one in faulty)
    refused = [one for one in trials if one.outcome == "compile"]
    seen = sum(one.outcome in ("fault", "hang") for one in faulty)
    cells = (
        name,
        kind,
        len(trials),
        by["unreached"],
        by["alike"],
        by["equal"],
        by["harmless"],
        by["rounding"],
        by["compile"],
        by["python"],
        by["lost"],
        len(faulty),
        _share(detected, len(faulty)),
        _share(sum(bool(one.detected) for one in refused), len(refused)),
        _share(seen, len(faulty)),
    )
    return f"| {' | '.join(map(str, cells))} |"


def _share(part: int, whole: int) -> str:
    return f"{part} ({part / whole:.0%})" if whole else "0"


def _package(trial: Trial) -> str:
    head, _, _ = trial.path.rpartition("/")
    return next((part for part in head.split("/") if "-" in part and part[-1].isalnum() and "." in part), head)
