"""Which faults, written by hand into kernels that are right, an audit notices.

    python bench/written [--budget SECONDS] [--jobs N] [--kernel NAME] [--results FILE] [--honest]

Each kernel of `subjects/` has ten mutants in the file beside it, each wrong for inputs that its subject accepts. First
the kernels are audited as they are; with --honest nothing else is. Then each mutant is: it is killed by a rule whose
error or warning finds nothing in the original, or it lives, or it does not compile. Results are kept in --results, and
a run goes on where the last one was broken off; name another file after a change of tritonaudit. The exit code is 1 if
a mutant lives or a kernel does not pass. Needs Python 3.11.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.corpus import ROOT
from bench.written.auditing import DOES_NOT_COMPILE, Audited, audit
from bench.written.mutants import Kernel, Mutant, kernels, mutants


@dataclass(frozen=True)
class Item:
    """A file to be audited: a kernel as it is, or a mutant."""

    id: str
    file_name: str
    source: str

    def key(self, budget: float) -> str:
        return f"{self.id} {budget:g} {hashlib.sha256(self.source.encode()).hexdigest()[:16]}"


@dataclass(frozen=True)
class Judged:
    """A mutant with what was said of it, and of the kernel that it is made of."""

    mutant: Mutant
    audited: Audited
    original: Audited

    @property
    def new_codes(self) -> list[str]:
        return sorted(self.audited.codes - self.original.codes)

    @property
    def outcome(self) -> str:
        if DOES_NOT_COMPILE in self.new_codes:
            return "does not compile"
        return "killed" if self.new_codes else "lives"


def main() -> None:
    """Audit the kernels, then the mutants, and print the tables."""
    arguments = _arguments()
    chosen = [kernel for kernel in kernels() if arguments.kernel in (None, kernel.name)]
    made = [] if arguments.honest else [mutant for kernel in chosen for mutant in mutants(kernel)]
    originals = [_original(kernel) for kernel in chosen]
    items = [*originals, *(_mutated(mutant) for mutant in made)]
    audited = _audited(items, arguments.budget, arguments.jobs, arguments.results)
    judged = [Judged(one, audited[one.id], audited[one.kernel]) for one in made]
    print("\n".join(_report({item.id: audited[item.id] for item in originals}, judged)))
    failed = any(audited[item.id].verdict != "passes" for item in originals)
    sys.exit(int(failed or any(one.outcome == "lives" for one in judged)))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python bench/written", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--budget", type=float, default=30, metavar="SECONDS", help="for each subject [default: 30]")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="files at a time [default: 2]")
    parser.add_argument("--kernel", choices=[kernel.name for kernel in kernels()], help="only this one")
    parser.add_argument("--honest", action="store_true", help="only the kernels as they are")
    parser.add_argument(
        "--results",
        type=Path,
        default=ROOT / "build" / "written.jsonl",
        metavar="FILE",
        help="where results are kept [default: build/written.jsonl]",
    )
    return parser.parse_args()


def _original(kernel: Kernel) -> Item:
    return Item(kernel.name, kernel.file.name, kernel.source)


def _mutated(mutant: Mutant) -> Item:
    kernel = Kernel(mutant.kernel)
    return Item(mutant.id, kernel.file.name, mutant.source_of(kernel.source))


def _audited(items: Sequence[Item], budget: float, jobs: int, results: Path) -> Mapping[str, Audited]:
    """What is said of the items, by their ids; what is not known yet is found out and kept."""
    kept = _kept(results)
    audited = {item.id: kept[key] for item in items if (key := item.key(budget)) in kept}
    left = [item for item in items if item.id not in audited]
    results.parent.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(jobs) as threads, results.open("a") as file:
        running = {threads.submit(audit, item.file_name, item.source, budget): item for item in left}
        for done in as_completed(running):
            item, result = running[done], done.result()
            audited[item.id] = result
            file.write(json.dumps({"key": item.key(budget), **asdict(result)}) + "\n")
            file.flush()
            said = ", ".join(sorted(result.codes))
            print(f"{item.id}: {result.verdict}, {said or 'nothing'}, {result.seconds:.0f} s", file=sys.stderr)
    return audited


def _kept(results: Path) -> Mapping[str, Audited]:
    if not results.is_file():
        return {}
    rows = [json.loads(line) for line in results.read_text().splitlines()]
    return {row.pop("key"): Audited(**row) for row in rows}


def _report(originals: Mapping[str, Audited], judged: Sequence[Judged]) -> Iterator[str]:
    yield from ("| kernel | verdict | rules | seconds | why |", "|---|---|---|---|---|")
    for name, audited in originals.items():
        rules, why = ", ".join(sorted(audited.codes)), audited.reason.replace("|", "/")
        yield f"| {name} | {audited.verdict} | {rules} | {audited.seconds:.0f} | {why[:160]} |"
    if not judged:
        return
    yield ""
    yield from _table("kind", judged, [one.mutant.kind for one in judged])
    yield ""
    yield from _table("kernel", judged, [one.mutant.kernel for one in judged])
    yield from ("", "What lives:")
    for one in judged:
        if one.outcome == "lives":
            yield f"- {one.mutant.id} ({one.mutant.kind}; {one.audited.verdict}): {one.mutant.why} {one.audited.reason}"


def _table(head: str, judged: Sequence[Judged], groups: Sequence[str]) -> Iterator[str]:
    outcomes = ("killed", "lives", "does not compile")
    found: defaultdict[str, list[str]] = defaultdict(list)
    for one, group in zip(judged, groups, strict=True):
        found[group].append(one.outcome)
    found["all"] = [one.outcome for one in judged]
    yield f"| {head} | mutants | {' | '.join(outcomes)} |"
    yield "|---|---|---|---|---|"
    for group, said in found.items():
        yield f"| {group} | {len(said)} | {' | '.join(str(said.count(outcome)) for outcome in outcomes)} |"


if __name__ == "__main__":
    main()
