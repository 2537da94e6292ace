"""Kernels made by chance from the table of Triton's functions and a grammar, each with the types it is compiled for.

A kernel loads what it needs, does a few things, and stores what comes of them. Half of them have one fault, made as a
slip would make it. What is generated knows signatures and roles of parameters, and nothing of what anyone refuses.
"""

from __future__ import annotations

import ast
import random
from dataclasses import dataclass, field

from bench.language.grammar import Kernel
from bench.language.kinds import KINDS
from bench.language.releases import Question
from bench.language.slips import slip

TORCH = {
    "fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64", "fp8e5": "float8_e5m2",
    "fp8e4nv": "float8_e4m3fn", "i1": "bool",
    "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8",
}  # fmt: skip
_NUMBERS = {"i32": "7", "i64": "2**40 + 7", "fp32": "0.5"}
_HEAD = "import triton\nimport triton.language as tl\n\n\n"
_FAULTY = 0.5


@dataclass(frozen=True)
class Generated:
    """One kernel: the operation that it is about, its text with a launch, and what compilers are asked."""

    name: str
    kind: str
    text: str
    question: Question
    faults: tuple[str, ...] = field(default=())


def generated(count: int, seed: int) -> list[Generated]:
    """As many different kernels, the same for the same seed."""
    found: dict[str, Generated] = {}
    number = 0
    while len(found) < count:
        chance = random.Random(f"{seed}/{number}")
        number += 1
        one = _one(chance, list(KINDS)[number % len(KINDS)], f"{seed}/{number}")
        if one is not None:
            found.setdefault(one.text, one)
    return list(found.values())


def _one(chance: random.Random, kind: str, name: str) -> Generated | None:
    kernel = Kernel(chance)
    KINDS[kind](kernel)
    source = kernel.source()
    faults: tuple[str, ...] = ()
    if chance.random() < _FAULTY:
        slipped = slip(source, chance)
        if slipped is None:
            return None
        source, fault = slipped
        faults = (fault,)
    constants = dict(kernel.constants)
    text = f"import torch\n{_HEAD}{source}\n\n{_launch(kernel)}"
    question = Question(f"{_HEAD}{source}", "kernel", dict(kernel.types), constants)
    ast.parse(text)
    return Generated(name, kind, text, question, faults)


def _launch(kernel: Kernel) -> str:
    lines, arguments = ["def launch():"], []
    for name, kind in kernel.types.items():
        if kind.startswith("*"):
            lines.append(f'    {name} = torch.empty(4096, dtype=torch.{TORCH[kind[1:]]}, device="cuda")')
            arguments.append(f"{name}={name}")
        else:
            arguments.append(f"{name}={_NUMBERS[kind]}")
    arguments += [f"{name}={value}" for name, value in kernel.constants.items()]
    return "\n".join([*lines, f"    kernel[(1,)]({', '.join(arguments)})", ""])
