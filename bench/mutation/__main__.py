"""Which faults in correct kernels an audit notices, and which a plain comparison of results.

    python bench/mutation [--kernel NAME] [--jobs N] [--output FILE] [--sides audit,plain] [--gpucheck DIR]

Each kernel of `subjects/` is mutated: one fault at a time, in the kernel or in the function that launches it. A mutant
that Triton rejects is left out; one that launches the same programs on the same arguments in all cases is equivalent.
The audit is `tritonaudit audit` on the CPU engine: a mutant is noticed if there is an error or a warning of a rule
that finds nothing in the original.
The plain comparison is KernelBench's: one shape, five seeds, `torch.allclose` with 1e-4 (float32) or 1e-2 (float16),
on the CPU engine, too; so is gpucheck, if it is asked, with its shapes, dtypes and tolerances. Results are kept in
--results, and a run goes on where the last one was broken off.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
import time
from collections.abc import Container, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.corpus import ROOT
from bench.mutation import tables
from bench.mutation.auditing import OPTIONS, Audited, Item, audit, write
from bench.mutation.calling import become_cpu
from bench.mutation.kernels import kernels
from bench.mutation.mutants import MOST, UNSEEN_BY_LAUNCHES, mutants
from bench.mutation.peer import become_cpu_with, noticed_by_gpucheck
from bench.mutation.store import Store, key_of, version_of
from bench.mutation.trying import Task, Tried, try_mutant
from tritonaudit.execute.killed import Killed
from tritonaudit.execute.pool import Limits, run_tasks

_SIDES = ("audit", "plain")
_LIMITS = Limits(seconds=180, memory=6 << 30)
_TRYING = tuple(f"bench/mutation/{name}" for name in ("subjects", "kernels.py", "calling.py", "trying.py"))
_DECLARED = Path(__file__).resolve().parent / "equivalent.tsv"


def main() -> None:
    """Make the mutants, have the sides look at them, print the tables."""
    arguments = _arguments()
    chosen = [kernel for kernel in kernels() if arguments.kernel in (None, kernel.name)]
    made = [mutant for kernel in chosen for mutant in mutants(kernel, arguments.most)]
    store = Store(arguments.results)
    started = time.perf_counter()
    originals = [Item(kernel.name, kernel.name, kernel.file.read_text()) for kernel in chosen]
    items = [*originals, *(Item(one.id, one.kernel, one.source) for one in made)]
    unseen = {one.id for one in made if one.operator in UNSEEN_BY_LAUNCHES} | {one.id for one in originals}
    tried = _tried(items, unseen, store, arguments.jobs)
    worth = [item for item in items[len(chosen) :] if not (it := tried[item.id]).rejected and not it.is_equal]
    noticed: Mapping[str, str] = {}
    if arguments.gpucheck:
        noticed = _noticed(worth, arguments.gpucheck.resolve(), store, arguments.jobs)
    audited: Mapping[str, Audited] = {}
    if "audit" in arguments.sides:
        options = (*OPTIONS, *arguments.options.split())
        audited = _audited([*originals, *worth], options, store, arguments.jobs)
        if arguments.again:
            unnoticed = [one for one in worth if not tables.new_codes(audited.get(one.id), audited.get(one.kernel))]
            options = (*OPTIONS, *arguments.again.split())
            audited = {**audited, **_audited([*originals, *unnoticed], options, store, arguments.jobs)}
    seconds = time.perf_counter() - started
    declared = _declared()
    judged = [
        tables.Judged(
            one,
            tried.get(one.id),
            audited.get(one.id),
            noticed.get(one.id),
            one.id in declared,
            audited.get(one.kernel),
        )
        for one in made
    ]
    text = _report([tables.original(item.id, tried[item.id], audited.get(item.id)) for item in originals], judged)
    text += f"{len(judged)} mutants in {seconds:.0f} s\n"
    print(text)
    if arguments.output:
        arguments.output.write_text(text)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python bench/mutation", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kernel", choices=[kernel.name for kernel in kernels()], help="only this one")
    parser.add_argument("--most", type=int, default=MOST, metavar="N", help="mutants of a kernel by one operator")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="how many processes [default: 2]")
    parser.add_argument("--sides", type=_sides, default=_SIDES, help="who is asked [default: audit,plain]")
    parser.add_argument("--options", default="", metavar="TEXT", help='for the audit, such as "--budget 10"')
    parser.add_argument(
        "--again", default="", metavar="TEXT", help="for another audit, of what the first does not notice"
    )
    parser.add_argument(
        "--gpucheck", type=Path, metavar="DIR", help="ask gpucheck, too: pip install --target DIR gpucheck==0.1.0"
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the tables there, too")
    parser.add_argument(
        "--results",
        type=Path,
        default=ROOT / "build" / "mutation.jsonl",
        metavar="FILE",
        help="where results are kept [default: build/mutation.jsonl]",
    )
    return parser.parse_args()


def _sides(text: str) -> tuple[str, ...]:
    chosen = tuple(text.split(","))
    if unknown := [name for name in chosen if name not in _SIDES]:
        raise argparse.ArgumentTypeError(f"{unknown[0]!r} is none of {', '.join(_SIDES)}")
    return chosen


def _tried(items: Sequence[Item], unseen: Container[str], store: Store, jobs: int) -> Mapping[str, Tried]:
    """What launching the items shows, by their names; of the `unseen` ones what they launch does not tell all."""
    version = version_of(*_TRYING)
    keys = {item.id: key_of("tried", version, item.source) for item in items}
    tried = {item.id: Tried(**known) for item in items if (known := store.get(keys[item.id])) is not None}
    with tempfile.TemporaryDirectory() as name:
        tasks = [
            Task(item.id, item.kernel, write(item, Path(name)), item.id not in unseen)
            for item in items
            if item.id not in tried
        ]
        for task, result in run_tasks(try_mutant, tasks, workers=jobs, limits=_LIMITS, prepare=become_cpu):
            outcome = Tried(float32=result.message, float16=result.message) if isinstance(result, Killed) else result
            tried[task.id] = outcome
            store.put(keys[task.id], asdict(outcome))
            _progress(len(tried), len(items), "tried")
    return tried


def _noticed(items: Sequence[Item], folder: Path, store: Store, jobs: int) -> Mapping[str, str]:
    """What gpucheck notices first, by the names of the items; nothing of those that it did not come to an end with."""
    version = version_of(*_TRYING, "bench/mutation/peer.py")
    keys = {item.id: key_of("gpucheck", version, item.source) for item in items}
    noticed = {item.id: known for item in items if (known := store.get(keys[item.id])) is not None}
    with tempfile.TemporaryDirectory() as name:
        left = [item for item in items if item.id not in noticed]
        tasks = [Task(item.id, item.kernel, write(item, Path(name)), False) for item in left]
        results = run_tasks(
            noticed_by_gpucheck,
            tasks,
            workers=jobs,
            limits=_LIMITS,
            prepare=become_cpu_with,
            arguments=(folder,),
        )
        for task, result in results:
            noticed[task.id] = result.message if isinstance(result, Killed) else result
            store.put(keys[task.id], noticed[task.id])
            _progress(len(noticed), len(items), "checked by gpucheck")
    return noticed


def _audited(items: Sequence[Item], options: Sequence[str], store: Store, jobs: int) -> Mapping[str, Audited]:
    """What the audit finds, by the names of the items."""
    version = version_of("tritonaudit", "rules", "bench/mutation/subjects")
    keys = {item.id: key_of("audit", version, *options, item.source) for item in items}
    audited = {item.id: Audited(**known) for item in items if (known := store.get(keys[item.id])) is not None}
    for some in audit([item for item in items if item.id not in audited], options, jobs):
        for name, result in some.items():
            audited[name] = result
            store.put(keys[name], asdict(result))
        _progress(len(audited), len(items), "audited")
    return audited


def _progress(done: int, of: int, what: str) -> None:
    if sys.stderr.isatty() or done % 50 == 0:
        print(f"{done} of {of} {what}", file=sys.stderr)


def _declared() -> frozenset[str]:
    """The mutants that two readers found equivalent: id, reason, first reading, second reading."""
    if not _DECLARED.is_file():
        return frozenset()
    with _DECLARED.open(newline="") as file:
        rows = csv.DictReader(file, delimiter="\t")
        return frozenset(row["id"] for row in rows if row["first"] == row["second"] == "equivalent")


def _report(originals: Sequence[str], judged: Sequence[tables.Judged]) -> str:
    is_audited = any(one.audited for one in judged)
    is_checked = any(one.gpucheck is not None for one in judged)
    sides = {**(tables.AUDIT if is_audited else {}), **tables.PLAIN, **(tables.GPUCHECK if is_checked else {})}
    parts = [
        tables.counted(judged, sides, lambda one: one.kernel, "kernel"),
        tables.counted(judged, sides, lambda one: one.operator, "operator"),
        "What is said of the originals\n" + "\n".join(filter(None, originals)),
    ]
    if is_audited:
        parts += [
            tables.codes(judged),
            "What the audit does not notice\n" + tables.survivors(judged) + "\n",
            "What the audit did not try\n" + tables.unaudited(judged) + "\n",
        ]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    main()
