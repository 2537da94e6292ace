"""How many kernels of published packages compile, for each target, with no GPU.

    python bench/packages --folder DIR [--package NAME …] [--target ARCH …] [--modules N] [--output FILE]

The packages are installed into DIR, without their dependencies; what they import must be installed already (einops,
pyyaml and sqlalchemy). `tritonaudit init` writes their wrappers down as subjects, as guessed from the text, with
nothing corrected. A kernel that no call of these launches is launched as inferred. Counted are the kernels that are
launched anywhere in the package; one is compiled when one of its launches compiles.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.packages.coverage import Coverage, coverage
from bench.packages.tables import reasons, shares
from tritonaudit.hardware.targets import DEFAULT_TARGETS

PACKAGES = {
    "liger-kernel": ("0.8.5", "liger_kernel"),
    "fla-core": ("0.6.0", "fla"),
    "flag-gems": ("5.0.2", "flag_gems/ops"),
}
_MODULES = {"flag-gems": 100}
"""Of how many modules, evenly spread, the kernels are taken, where that is not all."""


def main() -> None:
    """Install, capture, infer, compile, count."""
    parser = argparse.ArgumentParser(
        prog="python bench/packages", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, required=True, metavar="DIR", help="where the packages are installed")
    parser.add_argument("--package", action="append", choices=list(PACKAGES), help="only this one; may be repeated")
    parser.add_argument("--target", action="append", metavar="ARCH", help="compile for it [default: all four]")
    parser.add_argument("--modules", type=int, metavar="N", help="at most so many of each package, evenly spread")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write what each kernel came to, as JSON")
    arguments = parser.parse_args()
    found = []
    for name in arguments.package or PACKAGES:
        started = time.perf_counter()
        modules = arguments.modules or _MODULES.get(name)
        found.append(_coverage(name, arguments.folder, arguments.target or DEFAULT_TARGETS, modules))
        print(f"{name}: {time.perf_counter() - started:.0f} s", file=sys.stderr, flush=True)
        if arguments.output:
            arguments.output.write_text(json.dumps([asdict(one) for one in found], indent=1), encoding="utf-8")
    print(shares(found))
    print(reasons(found))


def _coverage(name: str, folder: Path, targets: Sequence[str], modules: int | None) -> Coverage:
    version, part = PACKAGES[name]
    site = (folder / f"{name}-{version}").resolve()
    if not site.exists():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(site)]
        subprocess.run([*pip, f"{name}=={version}"], check=True)
    sys.path.insert(0, str(site))
    try:
        files = _modules(site / part, modules)
        with tempfile.TemporaryDirectory() as specs:
            _init(files, Path(specs))
            return coverage(name, site, files, sorted(Path(specs).glob("*.py")), targets, os.cpu_count() or 1)
    finally:
        sys.path.remove(str(site))


def _modules(folder: Path, most: int | None) -> list[Path]:
    found = [path for path in sorted(folder.rglob("*.py")) if b"jit" in path.read_bytes()]
    if most is None or len(found) <= most:
        return found
    return [found[round(number * (len(found) - 1) / (most - 1))] for number in range(most)]


def _init(files: Sequence[Path], specs: Path) -> None:
    """Write the modules' subjects, as a user would; a module that cannot be read has none."""
    command = [sys.executable, "-m", "tritonaudit", "init", "--output-dir", str(specs), *map(str, files)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    subprocess.run(command, check=False, capture_output=True, env=environment)


if __name__ == "__main__":
    main()
