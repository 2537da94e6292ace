"""`python tools/api_table WHEELS`: writes tritonaudit/api/table.json from Triton's published wheels.

WHEELS is a folder with one wheel of each release, as pip gets them (no wheel of 2.x is for a Python above 3.11):

    pip download --no-deps --only-binary :all: --python-version 3.11 \\
        --platform manylinux_2_28_x86_64 --platform manylinux_2_27_x86_64 --platform manylinux_2_17_x86_64 \\
        -d WHEELS triton==3.9.0

Of several patch releases of one minor release the last one counts. Their texts are parsed, nothing is imported.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tools.api_table.folding import folded  # noqa: E402
from tools.api_table.sources import Sources, release_of  # noqa: E402


def main() -> None:
    """Read the wheels and write the table."""
    parser = argparse.ArgumentParser(
        prog="python tools/api_table", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("wheels", type=Path, help="a folder with Triton's wheels")
    parser.add_argument("--output", type=Path, default=ROOT / "tritonaudit" / "api" / "table.json")
    arguments = parser.parse_args()
    wheels = _last_patches(arguments.wheels)
    if not wheels:
        parser.error(f"{arguments.wheels} holds no wheel of Triton")
    text = folded({release: Sources(wheel) for release, wheel in wheels.items()})
    arguments.output.write_text(text, encoding="utf-8")
    print(f"{arguments.output}: {len(text) / 1000:.0f} kB, releases {', '.join(wheels)}")


def _last_patches(folder: Path) -> dict[str, Path]:
    """The wheels by release, oldest first, with the last patch of each minor release."""
    found = {release: path for path in folder.iterdir() if (release := release_of(path)) is not None}
    last: dict[tuple[int, int], tuple[int, str]] = {}
    for release in found:
        major, minor, patch = map(int, release.split("."))
        last[major, minor] = max(last.get((major, minor), (-1, "")), (patch, release))
    return {release: found[release] for _, (_, release) in sorted(last.items())}


if __name__ == "__main__":
    main()
