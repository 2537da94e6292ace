"""What a finding of the source brain is worth, by measures that no list can be learnt by heart for.

    python bench/judge MEASURE [OPTION …]

Each measure prints one table, and tells its options by --help:

    facts       what the source brain states of kernels, against executions on the CPU engine
    faults      faults injected into published kernels, of which the engine decides what they are
    invariance  what becomes of findings when a kernel is written otherwise, and means the same
    draw        what readers say of findings in packages that nobody has looked at
    fixes       real bugs that others have fixed, beside the injected faults of their class
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

MEASURES = ("facts", "faults", "invariance", "draw", "fixes")


def main() -> None:
    """Hand the options over to the measure that is named. Exit code 2 for what is none."""
    name, *options = sys.argv[1:] or ["--help"]
    if name in ("-h", "--help"):
        print(__doc__)
        return
    if name not in MEASURES:
        print(f"python bench/judge: {name!r} is no measure; there are {', '.join(MEASURES)}", file=sys.stderr)
        sys.exit(2)
    import_module(f"bench.judge.{name}").main(options)


if __name__ == "__main__":
    main()
