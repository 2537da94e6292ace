"""Pairs by the thousand, of which it is known what they are: kernels of `bench/kernelbench`, with one deed or none.

A deed is an edit of a right file's text. It makes the pair wrong, slow, or a cheat, or ends or stops what runs it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import count, cycle, islice
from pathlib import Path

from bench.kernelbench.faults import FAULTS, edited, launch_of
from bench.kernelbench.kernels import KERNELS, Kernel, Shape, text_of

_ELEMENTS = frozenset((Shape.ELEMENTS,))
_TO_ROWS = frozenset((Shape.ROWS,))
_ROWS = frozenset((Shape.ROWS, Shape.SUMS))
_EVERYWHERE = frozenset(Shape)
REFERENCE = "reference.py"
_STEPS = 20
"""So many times a slow one does all of its work."""


class Kind(Enum):
    """What a pair is. Of a hundred there are as many as `_SHARES` says."""

    RIGHT = "right"
    SLOW = "slow, and right"
    WRONG = "wrong"
    CHEAT = "cheat"
    CRASH = "ends its process, or raises"
    HANG = "never ends"

    @property
    def is_right(self) -> bool:
        return self in (Kind.RIGHT, Kind.SLOW)


_SHARES = {Kind.RIGHT: 30, Kind.SLOW: 4, Kind.WRONG: 44, Kind.CHEAT: 12, Kind.CRASH: 8, Kind.HANG: 2}


@dataclass(frozen=True)
class Deed:
    """By its name, the kind of pair that it makes, how it gets into a file's text, and the kernels that can have it."""

    name: str
    kind: Kind
    put: Callable[[Kernel, str], str]
    shapes: frozenset[Shape] = _EVERYWHERE


@dataclass(frozen=True)
class Generated:
    """A pair's path, and what it is: the deed is empty where it is right."""

    path: Path
    kind: Kind
    deed: str


def generated(folder: Path, number: int, *, is_large: bool) -> list[Generated]:
    """So many pairs, each a file in a folder of its own, beside its reference, the same ones each time.

    They are many samples of few problems: references are alike, and no two pairs.

    Their tensors have a few thousand elements, or about a million each where they are to be large.
    """
    made = []
    for index, (kernel, deed) in enumerate(islice(_planned(), number)):
        text = _sized(text_of(kernel), is_large)
        kind, name = (Kind.RIGHT, "") if deed is None else (deed.kind, deed.name)
        path = folder / f"pair_{index:04}" / f"{kernel.name}_{index:04}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_name(REFERENCE).write_text(text.partition("@triton.jit")[0], encoding="utf-8")
        new = _without_inputs(text if deed is None else deed.put(kernel, text))
        path.write_text(f"# sample {index}\n{new}", encoding="utf-8")
        made.append(Generated(path, kind, name))
    return made


def _without_inputs(text: str) -> str:
    """The file of a pair that leaves it to its reference which inputs there are; the model it may still call."""
    return re.sub(r"def (get_inputs|get_init_inputs)\(\):\n    return .*\n\n\n", "", text)


def _planned() -> Iterator[tuple[Kernel, Deed | None]]:
    """Kernels with their deeds, in the shares of the kinds, of each kind all deeds in turn, and of each all kernels."""
    deeds: dict[Kind, Iterator[Deed | None]] = {
        kind: cycle([one for one in DEEDS if one.kind is kind] or [None]) for kind in Kind
    }
    kernels = {deed: cycle([one for one in KERNELS if deed.shapes & {one.shape}]) for deed in DEEDS}
    right = cycle(KERNELS)
    owed = dict.fromkeys(Kind, 0.0)
    for _ in count():
        for kind, share in _SHARES.items():
            owed[kind] += share / 100
        kind = max(owed, key=lambda one: owed[one])
        owed[kind] -= 1
        deed = next(deeds[kind])
        yield (next(right) if deed is None else next(kernels[deed])), deed


def _sized(text: str, is_large: bool) -> str:
    """With tensors of sizes that no block divides, so that what is wrong at an edge is so as given."""
    large = {"(37, 100)": (1023, 1001), "(70, 100)": (1010, 1000), "(100, 50)": (1000, 1010)}
    for small, size in large.items() if is_large else ():
        text = text.replace(f"torch.randn{small}", f"torch.randn{size}")
    return text


# wrong ones


def _shifted(kernel: Kernel, text: str) -> str:
    extent = "n" if kernel.shape is Shape.ELEMENTS else "cols"
    return edited(text, "+ offsets, mask=mask", f"+ (offsets + 1) % {extent}, mask=mask", first=True)


def _padding(kernel: Kernel, text: str) -> str:
    return edited(text, f"other={kernel.padding})", "other=10000.0)")


def _first_row(kernel: Kernel, text: str) -> str:
    return edited(text, "x_ptr + row * cols", "x_ptr + 0 * row * cols")


def _coarse(kernel: Kernel, text: str) -> str:
    return _of_result(kernel, text, "({}).to(tl.bfloat16)")


def _large_values(kernel: Kernel, text: str) -> str:
    return edited(text, "    y = ", "    x = tl.where(x > 10000.0, 0.0, x)\n    y = ")


def _odd_programs(kernel: Kernel, text: str) -> str:
    return _of_result(kernel, text, "({}) + 0.25 * (tl.program_id(0) % 2)")


def _of_result(kernel: Kernel, text: str, changed: str) -> str:
    if kernel.shape is Shape.PRODUCT:
        return edited(
            text, f" + offsets, {kernel.formula}, mask", f" + offsets, {changed.format(kernel.formula)}, mask"
        )
    return edited(text, f"    y = {kernel.formula}\n", f"    y = {changed.format(kernel.formula)}\n")


def _strided(kernel: Kernel, text: str) -> str:
    return edited(text, "    x = x.contiguous()\n", "")


def _race(kernel: Kernel, text: str) -> str:
    store = re.search(r"^    tl\.store\(.*\n", text, re.MULTILINE)
    assert store is not None
    return edited(text, store[0], f"{store[0]}    tl.store(out_ptr, tl.program_id(0) + 0.5)\n")


def _not_zeroed(kernel: Kernel, text: str) -> str:
    return edited(text, "tl.store(", "tl.atomic_add(")


def _holes(kernel: Kernel, text: str) -> str:
    value = "acc" if kernel.shape is Shape.PRODUCT else "x"
    return edited(text, ", mask=mask)\n\n\ndef", f", mask=mask & ({value} > -1.0))\n\n\ndef")


def _returned(changed: str) -> Callable[[Kernel, str], str]:
    return lambda kernel, text: edited(text, "    return out\n", f"    return {changed}\n")


def _state(kernel: Kernel, text: str) -> str:
    text = edited(text, "\n\nclass Model(", "\n\nCALLS = []\n\n\nclass Model(")
    return edited(text, "    return out\n", "    CALLS.append(1)\n    return out if len(CALLS) < 3 else out + 1\n")


# cheats


def _instead(lines: str) -> Callable[[Kernel, str], str]:
    """Other lines in place of the launch, which they may have as LAUNCH, what torch makes of it as TORCH."""

    def put(kernel: Kernel, text: str) -> str:
        new = lines.replace("LAUNCH", launch_of(kernel)).replace("TORCH", kernel.torch)
        new = new.replace("INPUTS", "x, y" if kernel.shape is Shape.PRODUCT else "x")
        return edited(text, f"        return {launch_of(kernel)}\n", new)

    return put


_COPIED = "        out = LAUNCH\n        out.copy_(TORCH)\n        return out\n"
_MODEL = "        LAUNCH\n        return Model()(INPUTS)\n"
_BY_NUMBERS = "        LAUNCH\n        return torch.tensor((TORCH).tolist(), device=x.device)\n"
_THREAD = """\
        import threading

        out = LAUNCH
        out.zero_()
        beside = threading.Thread(target=lambda: out.copy_(TORCH))
        beside.start()
        beside.join()
        return out
"""


# what ends its process, raises, or never ends


def _before_return(line: str) -> Callable[[Kernel, str], str]:
    return lambda kernel, text: edited(text, "    return out\n", f"    {line}\n    return out\n")


def _at_import(line: str) -> Callable[[Kernel, str], str]:
    return lambda kernel, text: f"{line}\n{text}"


def _slow(kernel: Kernel, text: str) -> str:
    launch = re.search(r"^    (kernel\[.*)\n", text, re.MULTILINE)
    assert launch is not None
    return edited(text, launch[0], f"    for _ in range({_STEPS}):\n        {launch[1]}\n")


_KINDS = {
    **dict.fromkeys(("torch", "cached", "no kernel"), Kind.CHEAT),
    **dict.fromkeys(("raises", "dies"), Kind.CRASH),
    "hang": Kind.HANG,
}
"""Of the faults that are there already; the others make a pair wrong."""

DEEDS = (
    *(Deed(fault.name, _KINDS.get(fault.name, Kind.WRONG), fault.put, fault.shapes) for fault in FAULTS),
    Deed("shifted", Kind.WRONG, _shifted, _ELEMENTS | _TO_ROWS),
    Deed("padding", Kind.WRONG, _padding, _ROWS),
    Deed("first row", Kind.WRONG, _first_row, _ROWS),
    Deed("coarse", Kind.WRONG, _coarse),
    Deed("large values", Kind.WRONG, _large_values, _ELEMENTS | _ROWS),
    Deed("odd programs", Kind.WRONG, _odd_programs),
    Deed("strided", Kind.WRONG, _strided, _ROWS),
    Deed("race", Kind.WRONG, _race),
    Deed("not zeroed", Kind.WRONG, _not_zeroed),
    Deed("holes", Kind.WRONG, _holes, _ELEMENTS | _TO_ROWS | {Shape.PRODUCT}),
    Deed("another shape", Kind.WRONG, _returned("out[None]")),
    Deed("another dtype", Kind.WRONG, _returned("out.half()")),
    Deed("noise", Kind.WRONG, _returned("out + 0.01 * torch.rand_like(out)")),
    Deed("state", Kind.WRONG, _state),
    Deed("copied", Kind.CHEAT, _instead(_COPIED)),
    Deed("model", Kind.CHEAT, _instead(_MODEL)),
    Deed("by numbers", Kind.CHEAT, _instead(_BY_NUMBERS)),
    Deed("thread", Kind.CHEAT, _instead(_THREAD)),
    Deed("exits", Kind.CRASH, _before_return("__import__('os')._exit(0)")),
    Deed("quits", Kind.CRASH, _before_return("raise SystemExit(0)")),
    Deed("segfaults", Kind.CRASH, _before_return("__import__('ctypes').string_at(0)")),
    Deed("does not import", Kind.CRASH, _at_import("raise ImportError('nothing of that name')")),
    Deed("too much memory", Kind.CRASH, _before_return("torch.zeros(1 << 50, device=x.device)")),
    Deed("endless loop", Kind.HANG, _before_return("while x is not None: pass")),
    Deed("sleeps", Kind.HANG, _before_return("__import__('time').sleep(3600)")),
    Deed("slow", Kind.SLOW, _slow),
)
