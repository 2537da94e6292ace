"""How many kernel files of published packages can be imported as an audit imports them, and why the others cannot.

    python bench/importing --corpus DIR [--half {first,second}] [--files N] [--seed N] [--output FILE]

A sample of the same size is drawn of each package. Each file is imported in a process of its own, forked from a worker
with a stand-in GPU, with nothing installed for it. Counted are the files that import, and of the kernels at the level
of the sampled files those that are then Triton's jit functions, and of these the bare ones, which have lost a
decorator. The halves are every other package, by name.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.corpus import add_corpus_argument, packages
from bench.importing.apart import SECONDS, Imported, Task, import_apart, kernels
from tritonaudit.capture.task import become_gpu
from tritonaudit.execute.killed import Killed
from tritonaudit.execute.pool import Limits, run_tasks

_TARGET = "sm_90"
_HALVES = {"first": 0, "second": 1}


def main() -> None:
    """Draw, import, count."""
    parser = argparse.ArgumentParser(
        prog="python bench/importing", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_corpus_argument(parser)
    parser.add_argument("--half", choices=list(_HALVES), help="only every other package")
    parser.add_argument("--files", type=int, default=7, metavar="N", help="of each package, at most [default: 7]")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write what each file came to, as JSON")
    arguments = parser.parse_args()
    folders = packages(arguments.corpus)
    if arguments.half:
        folders = folders[_HALVES[arguments.half] :: 2]
    tasks = [task for folder in folders for task in _drawn(folder, arguments.files, arguments.seed)]
    found = list(_imported(tasks))
    if arguments.output:
        arguments.output.write_text(json.dumps([asdict(one) for one in found], indent=1), encoding="utf-8")
    print(_shares(found))
    print(_reasons(found))


def _drawn(folder: Path, count: int, seed: int) -> Iterator[Task]:
    """Files of a package that hold kernels; a file is parsed only once it is drawn."""
    paths = sorted(folder.rglob("*.py"))
    random.Random(f"{seed} {folder.name}").shuffle(paths)
    drawn = 0
    for path in paths:
        if drawn < count and kernels(path):
            drawn += 1
            yield Task(folder.name, path)


def _imported(tasks: Sequence[Task]) -> Iterator[Imported]:
    limits = Limits(SECONDS + 20, 8 << 30)
    for task, found in run_tasks(
        import_apart, tasks, workers=1, limits=limits, prepare=become_gpu, arguments=(_TARGET,)
    ):
        one = Imported(task.package, str(task.path), reason=found.message) if isinstance(found, Killed) else found
        print(f"{one.path}: {one.reason or 'imported'}", file=sys.stderr, flush=True)
        yield one


def _shares(found: Sequence[Imported]) -> str:
    heads = ("package", "files", "import", "with nothing stood in for", "kernels", "there", "of these bare")
    lines = [f"| {' | '.join(heads)} |", f"| --- |{' ---: |' * (len(heads) - 1)}"]
    names = list(dict.fromkeys(one.package for one in found))
    lines += [_row(name, [one for one in found if one.package == name]) for name in names]
    return "\n".join([*lines, _row(f"all {len(names)}", found), ""])


def _row(name: str, found: Sequence[Imported]) -> str:
    imported = sum(not one.reason for one in found)
    whole = sum(not one.reason and not one.said for one in found)
    kernels = (sum(one.kernels for one in found), sum(one.found for one in found), sum(one.bare for one in found))
    share = f"{imported} ({imported / len(found):.0%})"
    return f"| {' | '.join(map(str, (name, len(found), share, whole, *kernels)))} |"


def _reasons(found: Iterable[Imported]) -> str:
    counted = Counter(_alike(one.reason) for one in found if one.reason)
    lines = ["| files | reason |", "| ---: | --- |"]
    return "\n".join([*lines, *(f"| {count} | {reason} |" for reason, count in counted.most_common())])


def _alike(reason: str) -> str:
    """A reason without what differs from file to file."""
    return re.sub(r" \(/[^)]*\)|'?/\S+", "", reason).replace("|", "\\|")[:160]


if __name__ == "__main__":
    main()
