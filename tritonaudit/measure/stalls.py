"""What warps wait for, in words. Imports neither torch nor triton.

Source: NVIDIA Nsight Compute, Kernel Profiling Guide, "Warp Stall Reasons". The keys are those of ncu's page `source`,
less their prefix `stall_`. "not_selected" and "selected" are none: such a warp could go on, or does.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Stall:
    """A reason that warps wait for: its name in NVIDIA's documents, what is waited for, and what helps."""

    name: str
    meaning: str
    remedy: str


STALLS = {
    "barrier": Stall(
        "barrier",
        "the other warps of the program to come to a barrier",
        "let fewer warps share a program, or reduce and exchange less often",
    ),
    "branch_resolving": Stall("branch resolving", "the target of a branch", "branch less: compute both and select"),
    "dispatch": Stall(
        "dispatch stall", "the dispatcher, which holds instructions back", "see which instructions it is"
    ),
    "drain": Stall(
        "drain",
        "their last stores to leave, having nothing else to do",
        "store wider, and what lies together",
    ),
    "gmma": Stall("GMMA", "the matrix unit", "give it larger tiles, or more stages to load them ahead"),
    "imc": Stall("IMC miss", "a kernel argument or constant that is in no cache", "let a program do more work"),
    "lg": Stall(
        "LG throttle",
        "room in the queue of accesses to global and local memory",
        "make fewer and wider accesses; where registers spill, use a smaller tile or more warps",
    ),
    "long_sb": Stall(
        "long scoreboard",
        "what an earlier load from global or local memory brings",
        "let more loads be under way: more warps, more elements a program, or stages that load ahead",
    ),
    "math": Stall(
        "math pipe throttle",
        "an arithmetic unit that all of them use",
        "use cheaper arithmetic: matrix instructions, a narrower dtype, fewer conversions",
    ),
    "membar": Stall("membar", "a memory fence", "use fewer atomics and fences, or relaxed ones"),
    "mio": Stall(
        "MIO throttle",
        "room in the queue of accesses to shared memory and of special functions",
        "exchange less between lanes and warps: see reductions, transposes and changes of layout",
    ),
    "misc": Stall("misc", "the hardware, which does not say what for", "see which instructions it is"),
    "no_inst": Stall(
        "no instruction",
        "instructions that are in no cache, or are still being fetched",
        "make the code shorter: unroll less, use a smaller tile",
    ),
    "short_sb": Stall(
        "short scoreboard",
        "what shared memory or a special function brings",
        "exchange less between lanes and warps: see reductions, transposes, changes of layout and `tl.exp`",
    ),
    "sleep": Stall("sleeping", "other threads, asleep", "spin less on locks and flags"),
    "tex": Stall("tex throttle", "room in the queue of the texture unit", "make fewer and wider accesses"),
    "wait": Stall(
        "wait",
        "the result of arithmetic, which takes a fixed time",
        "let more warps take turns, or a thread compute several elements that do not need each other",
    ),
    "warpgroup_arrive": Stall("warpgroup arrive", "the matrix unit", "give it larger tiles, or more stages"),
}
