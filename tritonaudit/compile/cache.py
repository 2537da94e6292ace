"""Keeps what programs compiled to, by content, so that an unchanged program is not compiled again."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tritonaudit.cache_folder import cache_folder, write_whole
from tritonaudit.capture.launch import Program
from tritonaudit.compile.facts import Variant
from tritonaudit.compile.installed import triton_path, triton_version
from tritonaudit.data import NotData, decode, encode

_OURS = (
    *(
        f"compile/{name}.py"
        for name in (
            "accesses",
            "amdgcn",
            "analyse",
            "cache",
            "diagnostics",
            "facts",
            "narrow",
            "occupancy",
            "pipeline",
            "ptx",
            "ptxas",
            "reach",
            "ttir",
        )
    ),
    "data.py",
    "hardware/targets.json",
    "hardware/targets.py",
)
_TRITONS = ("TRITON_", "MLIR_", "LLVM_", "DISABLE_LLVM_OPT", "DISABLE_PTXAS_OPT", "AMDGCN_", "NVPTX_")
_HARMLESS = ("TRITON_CACHE_DIR", "TRITON_HOME", "TRITON_DUMP_DIR", "TRITON_OVERRIDE_DIR")


def default_folder() -> Path:
    """Where results are kept."""
    return cache_folder("compile")


@dataclass(frozen=True)
class Cache:
    """Results in files of a folder, each named after all that it depends on.

    A folder that cannot be written keeps nothing, an entry that cannot be read is none.
    """

    folder: Path

    def get(self, program: Program) -> Variant | None:
        """What the program came to under this version of Triton, without importing that; None if it is not known."""
        try:
            found: Variant = decode(Variant, self._path(program).read_bytes())
        except (OSError, NotData):
            return None
        return found

    def put(self, program: Program, variant: Variant) -> None:
        """Keep what the program came to."""
        write_whole(self._path(program), encode(variant))

    def _path(self, program: Program) -> Path:
        content = {
            "ttir": program.ttir,
            "target": program.target,
            "options": sorted((name, repr(value)) for name, value in program.options),
            "environment": compiling_variables(),
            "triton": _triton(),
            "tritonaudit": _version_of_ours(),
        }
        name = hashlib.sha256(json.dumps(content).encode()).hexdigest()
        return self.folder / name[:2] / f"{name[2:]}.json"


def compiling_variables() -> list[tuple[str, str]]:
    """The environment variables that Triton and its compilers heed, but for those that say where files go."""
    return sorted(item for item in os.environ.items() if item[0].startswith(_TRITONS) and item[0] not in _HARMLESS)


def _triton() -> str:
    """Which Triton compiles: its version, and where it is, since two of one version may be built differently."""
    return f"{triton_version()} {triton_path()}"


@cache
def _version_of_ours() -> str:
    """A hash of the code that makes a result of a compilation."""
    here = Path(__file__).parent.parent
    return hashlib.sha256(b"\0".join((here / name).read_bytes() for name in _OURS)).hexdigest()
