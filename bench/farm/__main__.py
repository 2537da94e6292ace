"""How much of the time of GPUs the farm's scheduler makes use of, in a simulation with durations that were measured.

    python bench/farm [--subjects N] [--nodes N] [--gpus N] [--cores N] [--failures SHARE] [--seed N]

Every lease fails with the given probability, after a part of its time, and one in a hundred of these takes its node
with it, which comes back after two minutes. The efficiency is the work without failures divided by what the busiest
resource could have done in the time of the simulation, as far as its nodes were there: what is tried again, and every
gap, counts against it. The exit code is 1 where it is less than 95 %, or where a subject is lost or reported twice.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.farm.simulation import Farm, simulated

_LEAST = 0.95


def main() -> None:
    """Simulate, print what came out, and leave with 1 where that is not good enough."""
    parser = argparse.ArgumentParser(
        prog="python bench/farm", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--subjects", type=int, default=100_000, metavar="N", help="[default: 100000]")
    parser.add_argument("--nodes", type=int, default=8, metavar="N", help="[default: 8]")
    parser.add_argument("--gpus", type=int, default=8, metavar="N", help="of each node [default: 8]")
    parser.add_argument("--cores", type=int, default=16, metavar="N", help="for each GPU [default: 16]")
    parser.add_argument("--failures", type=float, default=0.01, metavar="SHARE", help="of all leases [default: 0.01]")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="[default: 1]")
    given = parser.parse_args()
    farm = Farm(given.subjects, given.nodes, given.gpus, given.cores, given.failures, given.seed)
    began = time.monotonic()
    result = simulated(farm)
    print(f"{given.subjects} subjects, {given.nodes} nodes of {given.gpus} GPUs with {given.cores} cores each")
    print(f"leases {result.leases}, failed {result.failed}, nodes lost {result.nodes_lost}")
    print(f"reported {result.reported}, of them given up {result.given_up}, reported twice {result.reported_twice}")
    print(f"simulated {result.seconds:,.0f} s, GPUs absent for {result.absent:.1%} of it")
    print(f"efficiency {result.efficiency:.1%} of ideal")
    print(f"timing slots busy {result.timing_busy:.1%}, slots for trying busy {result.trying_busy:.1%}")
    print(f"{(time.monotonic() - began) / max(result.leases, 1) * 1e6:.0f} us for each lease, simulation and all")
    is_whole = result.reported == given.subjects and not result.reported_twice
    sys.exit(int(not is_whole or result.efficiency < _LEAST))


if __name__ == "__main__":
    main()
