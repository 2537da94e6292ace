"""How much of the time of GPUs the farm's scheduler makes use of, in a simulation with durations that were measured.

Every lease fails with the given probability, after a part of its time, and a share of these takes its node with it,
which comes back after two minutes. The efficiency is that of the best schedule there could be: the least time in which
the nodes, as far as they were there, could have done the work had nothing failed, divided by the time of the
simulation. What is tried again, and every gap, counts against it. The exit code is 1 where it is less than 95 %, or
where a subject is lost or reported twice.
"""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace

from bench.farm.simulation import Farm, simulated

_LEAST = 0.95


def add_arguments(parser: ArgumentParser) -> None:
    """What the command line takes."""
    parser.add_argument("--subjects", type=int, default=100_000, metavar="N", help="[default: 100000]")
    parser.add_argument("--nodes", type=int, default=8, metavar="N", help="[default: 8]")
    parser.add_argument("--gpus", type=int, default=8, metavar="N", help="of each node [default: 8]")
    parser.add_argument("--cores", type=int, default=16, metavar="N", help="for each GPU [default: 16]")
    parser.add_argument("--failures", type=float, default=0.01, metavar="SHARE", help="of all leases [default: 0.01]")
    parser.add_argument(
        "--losses", type=float, default=0.01, metavar="SHARE", help="of failures, that take the node [default: 0.01]"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="[default: 1]")


def run(given: Namespace) -> int:
    """Simulate, print what came out, and give 1 where that is not good enough."""
    farm = Farm(given.subjects, given.nodes, given.gpus, given.cores, given.failures, given.losses, given.seed)
    began = time.monotonic()
    result = simulated(farm)
    efficiency = result.bound / result.seconds
    print(f"{given.subjects} subjects, {given.nodes} nodes of {given.gpus} GPUs with {given.cores} cores each")
    print(f"leases {result.leases}, failed {result.failed}, nodes lost {result.nodes_lost}")
    print(f"reported {result.reported}, of them given up {result.given_up}, reported twice {result.reported_twice}")
    print(f"simulated {result.seconds:,.0f} s, no schedule could end before {result.bound:,.0f} s: {efficiency:.1%}")
    print(
        f"timing slots: useful {result.useful:.1%}, absent {result.absent:.1%}, spoilt by failures {result.spoilt:.1%},"
        f" idle {result.idle:.1%}, of which until a first subject was right {result.starting:.1%}"
    )
    print(f"slots for trying busy {result.trying_busy:.1%}")
    print(f"{(time.monotonic() - began) / max(result.leases, 1) * 1e6:.0f} us for each lease, simulation and all")
    is_whole = result.reported == given.subjects and not result.reported_twice
    return int(not is_whole or efficiency < _LEAST)
