"""cuxray, an analyser of CUDA binaries: run as its documentation says on a binary with Triton's metadata beside it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bench.agreement.sides import Failed, run

KNOWN = "0.6.0"
"""The release whose documentation the table of findings was written by."""


@dataclass(frozen=True)
class Reported:
    """What it reports of one binary: registers, stack and spilled bytes per thread, resident warps.

    `uncoalesced` and `conflicts` hold a place with the figure that it gives: the part of the sectors that is used, in
    percent, and how many ways a bank conflict has. `unanalysed` counts the accesses that it can say nothing of.
    `note` tells what had to be left out, `error` why there is nothing.
    """

    subject: str
    registers: int | None = None
    stack: int | None = None
    spill_stores: int | None = None
    spill_loads: int | None = None
    occupancy: int | None = None
    uncoalesced: tuple[tuple[int, float], ...] = ()
    conflicts: tuple[tuple[int, int], ...] = ()
    spilling_lines: int = 0
    analysed: int = 0
    unanalysed: int = 0
    pressure: int | None = None
    actions: tuple[str, ...] = ()
    note: str = ""
    error: str = ""


@dataclass(frozen=True)
class Cuxray:
    """An installed cuxray, and the variables that it is run with."""

    command: str
    variables: Mapping[str, str]

    def version(self) -> str:
        """Its version. Raises Failed."""
        return run([self.command, "--version"], self.variables).split()[-1]

    def report(self, folder: Path) -> Reported:
        """What it says of the binary in a folder of Triton's cache."""
        [cubin] = folder.glob("*.cubin")
        metadata = json.loads(cubin.with_suffix(".json").read_bytes())
        launch = ["--threads", str(32 * metadata["num_warps"]), "--smem-dynamic", str(metadata["shared"])]
        note = ""
        try:
            report = self._json("report", [str(cubin), *launch])
        except Failed as failure:
            # Its option for a report without the liveness of registers, which its disassembler may fail to tell.
            note = f"only with --fast: {_last_words(failure)}"
            try:
                report = self._json("report", [str(cubin), *launch, "--fast"])
            except Failed as error:
                return Reported(folder.name, error=_last_words(error))
        [kernel] = report["units"][0]["kernels"]
        return _reported(folder.name, kernel, self._actions(cubin, launch), note)

    def _actions(self, cubin: Path, launch: Sequence[str]) -> tuple[str, ...]:
        """What it advises to do; nothing where it cannot analyse the binary as a whole."""
        try:
            advice = self._json("advise", [str(cubin), *launch])
        except Failed:
            return ()
        return tuple(action["title"] for result in advice["results"] for action in result["actions"])

    def _json(self, command: str, arguments: Sequence[str]) -> Any:
        return json.loads(run([self.command, command, *arguments, "--json"], self.variables))


def toolchain(cache: Path) -> dict[str, str]:
    """The variables that have it use the binary utilities in Triton's wheel, unless the user chose others."""
    spec = find_spec("triton")
    assert spec is not None
    assert spec.origin is not None
    binaries = Path(spec.origin).parent / "backends" / "nvidia" / "bin"
    chosen = os.environ.get("CUXRAY_TOOLCHAIN", str(binaries))
    return {"CUXRAY_TOOLCHAIN": chosen, "CUXRAY_CACHE": str(cache)}


def _reported(subject: str, kernel: Mapping[str, Any], actions: tuple[str, ...], note: str) -> Reported:
    resources, spills, access = kernel["resources"], kernel["spills"], kernel["access"] or {}
    sites = access.get("by_site", [])
    return Reported(
        subject=subject,
        registers=resources["regs"],
        stack=resources["stack_frame"],
        spill_stores=spills["store_bytes"],
        spill_loads=spills["load_bytes"],
        occupancy=(kernel["occupancy"] or {}).get("active_warps"),
        uncoalesced=tuple((site["line"], site["efficiency_pct"]) for site in sites if site["verdict"] == "uncoalesced"),
        conflicts=tuple((site["line"], site["conflict_ways"]) for site in sites if site["verdict"] == "conflict"),
        spilling_lines=len(spills["by_line"]),
        analysed=access.get("analyzed_count", 0),
        unanalysed=access.get("unanalyzed_count", 0),
        pressure=(kernel["pressure"].get("peak") or {}).get("live_gpr"),
        actions=actions,
        note=note,
    )


def _last_words(failure: Failed) -> str:
    """What the program that it ran says, without the command line before it."""
    return " ".join(str(failure).split()).rpartition("): ")[2]
