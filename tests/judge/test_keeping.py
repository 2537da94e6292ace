"""What a run has found is kept for as long as what decides it stays, wherever the work folder lies."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from bench.judge.calls import Call
from bench.judge.keeping import BRAIN, Kept
from bench.judge.noted import Noted
from bench.judge.packages import Package
from tests.checkout import ROOT

KERNEL = """\
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at), mask=at < n)


def copy(x, out):
    copy_kernel[(triton.cdiv(x.numel(), 128),)](x, out, x.numel(), BLOCK=128)
"""
CHECK = """\
import sys
from pathlib import Path
from tritonaudit.config import Config
from tritonaudit.engine import text_checker

path = Path(sys.argv[1])
assert text_checker(Config(path.parent))(path.read_bytes(), path).findings
for module in list(sys.modules.values()):
    print(getattr(module, "__file__", None) or "")
"""


@dataclass(frozen=True)
class Task:
    spec: Path


@dataclass(frozen=True)
class Found:
    reported: tuple[str, ...]


def test_what_is_kept_is_found_again_where_the_work_folder_has_been_moved(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    Kept(here, "found", BRAIN).put(Task(here / "specs" / "audit_add.py"), Found(("TAM101",)))
    here.rename(there)
    assert Kept(there, "found", BRAIN).get(Task(there / "specs" / "audit_add.py"), Found) == Found(("TAM101",))
    assert Kept(there, "found", BRAIN).get(Task(there / "specs" / "audit_mul.py"), Found) is None


def test_a_call_that_is_kept_is_of_the_package_wherever_it_lies() -> None:
    here = Package("lab-1.0", Path("/here/sites/lab-1.0"), Path("/here/specs/lab-1.0"))
    there = Package("lab-1.0", Path("/there/sites/lab-1.0"), Path("/there/specs/lab-1.0"))
    noted = Noted((("n", 97),), "float32", "contiguous")
    kernels = (("/here/sites/lab-1.0/lab/add.py", "add", 9), ("/elsewhere/mul.py", "mul", 3))
    moved = Call(here.specs / "audit_add.py", "add", noted, kernels, 2, 0.1).within(here).of(there)
    assert moved.spec == there.specs / "audit_add.py"
    assert moved.kernels == (("/there/sites/lab-1.0/lab/add.py", "add", 9), ("/elsewhere/mul.py", "mul", 3))


def test_all_that_a_check_of_the_source_loads_decides_what_is_kept(tmp_path: Path) -> None:
    (tmp_path / "copy.py").write_text(KERNEL)
    command = [sys.executable, "-c", CHECK, str(tmp_path / "copy.py")]
    ran = subprocess.run(command, cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, check=True, capture_output=True, text=True)
    deciding = [ROOT / name for name in BRAIN]
    ours = [Path(line) for line in ran.stdout.splitlines() if line and Path(line).is_relative_to(ROOT / "tritonaudit")]
    assert len(ours) > 100
    undecided = [str(path.relative_to(ROOT)) for path in ours if not any(path.is_relative_to(one) for one in deciding)]
    assert [name for name in undecided if not name.endswith("__init__.py")] == []
