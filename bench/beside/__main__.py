"""tritonaudit beside Meta's Triton-Lint and naive regular expressions: the bugs they see, and how often they speak up.

    python bench/beside --bugs FILE --folder DIR --corpus DIR [--missed]

FILE is a table of bugs that were fixed (columns id, class, visible and lines_before, the changed lines), DIR holds
each one's file as `<id>/before/<file>` and `<id>/after/<file>`. A bug counts as seen if a finding within three lines of
the changed ones is gone after the fix, and the file has fewer findings of its code.

The rules of Triton-Lint are written anew from their description, the regular expressions are those that come to mind
first; they have no severities, so that none of what they match is an error. All run in this process, with default
settings.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.beside import naive, ours, triton_lint
from bench.beside.recall import Bug, fixed_kernels, read_bugs, tried
from bench.beside.reports import Checker, of_each_kernel
from bench.beside.results import Result, by_kind, corpus_parts, missed, parted, summary
from bench.corpus import add_corpus_argument

CHECKERS = (
    Checker("tritonaudit", ours.reports),
    Checker("Triton-Lint's rules", of_each_kernel(triton_lint.complaints)),
    Checker("regular expressions", of_each_kernel(naive.complaints)),
)


def main() -> None:
    """Run all three on the bugs and the corpus, and print the tables."""
    parser = argparse.ArgumentParser(
        prog="python bench/beside", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bugs", type=Path, required=True, metavar="FILE", help="the table of bugs")
    parser.add_argument("--folder", type=Path, required=True, metavar="DIR", help="their files before and after")
    add_corpus_argument(parser)
    parser.add_argument("--missed", action="store_true", help="list the bugs that tritonaudit does not see")
    arguments = parser.parse_args()
    bugs = read_bugs(arguments.bugs, arguments.folder)
    if not bugs:
        sys.exit(f"{arguments.folder} holds none of the bugs in {arguments.bugs}")
    results = [_result(checker, bugs, arguments.corpus) for checker in CHECKERS]
    _print(results, bugs, arguments.corpus)
    if arguments.missed:
        print("\nnot seen:", *missed(results[0]), sep="\n")


def _result(checker: Checker, bugs: Sequence[Bug], corpus: Path) -> Result:
    print(f"{checker.name}: {len(bugs)} bugs, then {corpus}", file=sys.stderr, flush=True)
    return Result(checker.name, tuple(tried(checker, bugs)), tuple(checker.reports(corpus)))


def _print(results: Sequence[Result], bugs: Sequence[Bug], corpus: Path) -> None:
    first, *others = results
    fixed = fixed_kernels(bugs)
    parts = corpus_parts(corpus)
    print(
        f"{len(bugs)} bugs, {fixed} kernels in the fixed files, {parts[0].count} and {parts[1].count} in the corpus\n"
    )
    print(*summary([*parted(first), *others], fixed, parts), sep="\n")
    print()
    print(*by_kind([first, *others]), sep="\n")


if __name__ == "__main__":
    main()
