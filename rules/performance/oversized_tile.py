"""TAP101: a tile of which each thread has more elements than registers."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Place, Severity
from tritonaudit.queries.tile_needs import REGISTERS, LargeTile, large_tiles
from tritonaudit.rule import Hit, Rule

_MOST_WARPS = 32


class OversizedTile(Rule):
    code, name = "TAP101", "oversized-tile"
    summary = "A config or a launch gives so few warps to a tile that no thread can hold its part in registers."
    severity, confidence, since = Severity.WARNING, Confidence.MEDIUM, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        if kernel.for_vendor:
            return
        for tile in large_tiles(kernel):
            extents = " × ".join(map(str, tile.extents))
            unless = ", unless they have 8 bits" * tile.is_copied
            passed_over = ", and the autotuner compiles and times it anyway" * tile.setting.is_one_of_many
            yield Hit(
                _place(kernel, tile),
                f"each of the {tile.setting.threads} threads has {tile.per_thread} elements of a tile of {extents}, and"
                f" an A100 or H100 has {REGISTERS} registers per thread: they spill to memory{unless}{passed_over}",
                remedy=_remedy(tile),
                severity=Severity.INFO if tile.setting.is_one_of_many or tile.is_copied else None,
                related=((tile.node, "the tile is made here"),),
            )


def _place(kernel: KernelFlow, tile: LargeTile) -> Place:
    """The option that says how many warps, or the head of the call."""
    call = tile.setting.node
    warps = next((keyword.value for keyword in call.keywords if keyword.arg == "num_warps"), call.func)
    return kernel.place(warps)


def _remedy(tile: LargeTile) -> str:
    warps, per_thread = tile.setting.warps, tile.per_thread
    while warps < _MOST_WARPS and per_thread > REGISTERS // 2 + 1:
        warps, per_thread = warps * 2, per_thread // 2
    smaller = "use a smaller tile"
    return smaller if per_thread > REGISTERS // 2 + 1 else f"{smaller}, or `num_warps={warps}`"
