"""Which sizes are tried in place of those that a function for the inputs gives. Imports neither torch nor triton."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tritonaudit.subject.given import Given

MOST_QUICK = 1 << 18
"""Elements of all tensors: of more than that ordinary cases have smaller sizes, where these may be had."""
MOST_FIRST, MOST_EVER = 1 << 27, 1 << 27
"""Elements up to which the tensors as given are the first case, and a case at all: a reference must be had of them."""
MOST_FIRST_ON_ENGINE, MOST_EVER_ON_ENGINE = 1 << 20, 1 << 24
"""The same on the CPU engine, which takes seconds for so many, and minutes."""
_AIM = 1 << 15
"""Elements of ordinary cases then."""
_BLOCK = 128
"""What is taken for the size of a block where none is known."""
_LARGEST_BLOCK = 1024
_STEPS = (64, 16, 4, 1)


def ordinary_sizes(
    given: Given, blocks: Sequence[int], is_quick: Callable[[Mapping[str, int]], bool]
) -> dict[str, int]:
    """The sizes as given, where they are quick; else smaller ones of the same shape class, the largest first."""
    sizes = dict(given.sizes)
    if is_quick(sizes) and given.elements() <= MOST_QUICK:
        return sizes
    while not is_quick(sizes) or given.elements(sizes) > _AIM:
        options = {name: less for name, size in sizes.items() if (less := _next_smaller(given, name, size, blocks))}
        if not options:
            break
        largest = max(options, key=lambda name: sizes[name])
        sizes[largest] = options[largest]
    return sizes


def smaller_sizes(given: Given, name: str, size: int, blocks: Sequence[int]) -> tuple[int, ...]:
    """This size, then smaller ones that the reference takes, from large to small."""
    sizes = [size]
    while less := _next_smaller(given, name, sizes[-1], blocks):
        sizes.append(less)
    if sizes[-1] > 1 and not given.why_not({name: 1}):
        sizes.append(1)
    return tuple(sizes)


def _next_smaller(given: Given, name: str, size: int, blocks: Sequence[int]) -> int | None:
    """The next size whose remainder by blocks is that of the one given, so that the last program has as much to do."""
    whole = given.sizes[name]
    usual = max((block for block in blocks if block <= min(_LARGEST_BLOCK, whole // 2)), default=_BLOCK)
    for block in dict.fromkeys((usual, _BLOCK, 16)):
        for steps in _STEPS:
            less = whole % block + block * steps
            if less < size and not given.why_not({name: less}):
                return less
        if 1 < (rest := whole % block) < size and not given.why_not({name: rest}):
            return rest
    return None
