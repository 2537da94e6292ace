"""The warm process that workers are forked from: what it spares them, and what they do not notice of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.checkout import ROOT, environment
from tests.execute import tasks
from tests.execute.test_pool import LIMITS, all_end, is_alive, wait_until
from tritonaudit.execute.killed import End, Killed
from tritonaudit.execute.pool import run_tasks

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere each worker is a new Python")


def run(*items: tuple[Any, ...], workers: int = 1, **options: Any) -> list[Any]:
    """What the tasks, which are all different, come to, in the tasks' order."""
    found = dict(run_tasks(tasks.call, items, workers=workers, limits=LIMITS, **options))
    return [found[item] for item in items]


def warm_process() -> int:
    """The process that workers are forked from now."""
    ((_, _, process),) = run(("ancestors",))
    return int(process)


def start(code: str, folder: Path, **stand_ins: str) -> subprocess.Popen[str]:
    """A Python that finds these packages before all others, in a session of its own."""
    for name, source in stand_ins.items():
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(source)
    return subprocess.Popen(
        [sys.executable, "-c", f"{IMPORTS}{code}"],
        cwd=folder,
        env={**environment(), "PYTHONPATH": os.pathsep.join(map(str, (folder, ROOT)))},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


IMPORTS = """
import os, sys, time
from pathlib import Path
from tests.execute import tasks
from tritonaudit.execute.pool import Limits, run_tasks
from tritonaudit.execute.starting import warm_up

def run(*items, workers=1):
    return dict(run_tasks(tasks.call, items, workers=workers, limits=Limits(20, 1 << 30)))
"""


def output_of(code: str, folder: Path, **stand_ins: str) -> list[str]:
    with start(code, folder, **stand_ins) as process:
        output, errors = process.communicate(timeout=120)
    assert (process.returncode, errors) == (0, "")
    return output.splitlines()


# -- what is imported ----------------------------------------------------------------------------------------------


def test_workers_have_what_they_need_from_the_start() -> None:
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    names = ("torch", "triton", "tritonaudit.suites.on_cpu")
    assert run(("imported", *names)) == [[True] * 3]
    assert run(("imported", *names), is_fresh=True) == [[False] * 3]


def test_a_package_is_imported_once_however_many_workers(tmp_path: Path) -> None:
    code = f"""
imported = ("imported", "torch")
print(run(imported, ("ancestors_once_ready", {str(tmp_path / "here")!r}, 1), workers=2)[imported])
print(run(imported)[imported])
"""
    torch = f"open({str(tmp_path / 'count')!r}, 'a').write('imported ')"
    assert output_of(code, tmp_path, torch=torch, triton="") == ["[True]", "[True]"]
    assert (tmp_path / "count").read_text() == "imported "


@pytest.mark.parametrize("source", ["raise OSError('broken')", "raise SystemExit(3)", "import os; os.abort()"])
def test_a_package_that_cannot_be_imported_costs_no_task(tmp_path: Path, source: str) -> None:
    assert output_of("print(run(('double', 2)))", tmp_path, torch=source, triton="") == ["{('double', 2): 4}"]


def test_a_package_with_threads_is_imported_by_each_worker(tmp_path: Path) -> None:
    """Its threads would not be there in a forked process."""
    torch = "import threading, time; threading.Thread(target=time.sleep, args=(60,), daemon=True).start()"
    assert output_of("print(*run(('imported', 'torch')).values())", tmp_path, torch=torch) == ["[False]"]


def test_a_package_that_takes_for_ever_is_waited_for_once(tmp_path: Path) -> None:
    code = f"""
from tritonaudit.execute import starting
starting._READY_SECONDS = 1.0
print(run(("double", 2)), run(("double", 3)))
print(len(open({str(tmp_path / "count")!r}).read().split()))
"""
    torch = f"import time; open({str(tmp_path / 'count')!r}, 'a').write('begun '); time.sleep(60)"
    assert output_of(code, tmp_path, torch=torch, triton="") == ["{('double', 2): 4} {('double', 3): 6}", "1"]


@pytest.mark.parametrize(("may_write", "kept"), [("", []), ("1", ["torch/__init__", "torch/more"])])
def test_bytecode_that_may_not_be_left_beside_torch_is_kept_in_the_cache(
    tmp_path: Path, may_write: str, kept: list[str]
) -> None:
    """As in a container: there each command would compile all of torch again. What the user's code imports is not."""
    (tmp_path / "theirs.py").write_text("")
    code = f"""
os.environ.update(PYTHONDONTWRITEBYTECODE={may_write!r}, TRITONAUDIT_CACHE={str(tmp_path / "cache")!r})
run(("imported", "torch"))
until = time.monotonic() + {10 if kept else 0.5}
while time.monotonic() < until and not list(Path({str(tmp_path)!r}).glob("cache/bytecode/**/torch/more*.pyc")):
    time.sleep(0.05)
print(*run(("import_by_name", "theirs")).values())
"""
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("import torch.more")
    (tmp_path / "torch" / "more.py").write_text("")
    assert output_of(code, tmp_path, triton="") == [str([None, bool(may_write)])]
    found = sorted((tmp_path / "cache" / "bytecode").rglob("torch/*.pyc"))
    assert [f"torch/{path.name.partition('.')[0]}" for path in found] == kept
    beside = [path.name.partition(".")[0] for path in tmp_path.rglob("__pycache__/*.pyc")]
    assert sorted(beside) == ([] if may_write else ["__init__", "__init__", "more", "theirs"])


def test_it_uses_no_gpu_and_has_no_thread() -> None:
    process = warm_process()
    assert len(os.listdir(f"/proc/{process}/task")) == 1
    links = (f"/proc/{process}/fd/{name}" for name in os.listdir(f"/proc/{process}/fd"))
    assert not [path for path in map(os.readlink, links) if path.startswith(("/dev/nvidia", "/dev/kfd", "/dev/dxg"))]


# -- what workers see ----------------------------------------------------------------------------------------------


def test_a_worker_is_where_this_process_is_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_VARIABLE", "one")
    before = warm_process()
    monkeypatch.setenv("SOME_VARIABLE", "two \udcff")
    monkeypatch.setenv("ANOTHER", "new")
    monkeypatch.chdir(tmp_path)
    assert run(("surroundings", "SOME_VARIABLE", "ANOTHER")) == [(str(tmp_path), ["two \udcff", "new"])]
    monkeypatch.delenv("ANOTHER")
    assert run(("surroundings", "ANOTHER")) == [(str(tmp_path), [None])]
    assert warm_process() == before


def test_what_is_read_when_a_package_is_imported_gets_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    before = warm_process()
    monkeypatch.setenv("TRITON_SOME_SETTING", "1")
    assert run(("surroundings", "TRITON_SOME_SETTING")) == [(os.getcwd(), ["1"])]
    assert warm_process() != before
    assert all_end([before])


def test_workers_of_the_process_before_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = run_tasks(tasks.call, [("process",), ("nap", 1.0), ("double", 1)], workers=1, limits=LIMITS)
    next(found)
    monkeypatch.setenv("TRITON_SOME_SETTING", "2")
    assert run(("double", 4)) == [8]
    assert [outcome for _, outcome in found] == [1.0, 2]


def test_a_worker_has_nothing_open_that_is_not_its_own() -> None:
    ((forked,), (fresh,)) = run(("kinds_of_open_files",)), run(("kinds_of_open_files",), is_fresh=True)
    assert forked == fresh
    assert "socket" not in forked


def test_workers_draw_numbers_of_their_own(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    one, two = run(("random_numbers",)), run(("random_numbers",))
    assert one[0][0] != two[0][0]
    assert one[0][1] != two[0][1]


def test_pools_of_several_threads_have_each_its_own_workers(tmp_path: Path) -> None:
    found: list[Any] = []
    begin = str(tmp_path / "here")
    threads = [threading.Thread(target=lambda: found.extend(run(("ancestors_once_ready", begin, 4)))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({worker for worker, _, _ in found}) == len({supervisor for _, supervisor, _ in found}) == 4
    assert {process for _, _, process in found} == {warm_process()}


# -- its end -------------------------------------------------------------------------------------------------------


def test_one_that_is_killed_is_replaced() -> None:
    before = warm_process()
    os.kill(before, signal.SIGKILL)
    after = warm_process()
    assert after not in (before, os.getpid())


def test_what_is_under_way_when_it_is_killed_is_lost_and_the_rest_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "pids"
    hanging = ("say_ancestors_and_hang", str(path))
    found: dict[Any, Any] = {}
    pool = run_tasks(tasks.call, [hanging, ("double", 2)], workers=1, limits=LIMITS)
    thread = threading.Thread(target=lambda: found.update(pool))
    thread.start()
    assert wait_until(path.exists)
    pids = [int(pid) for pid in path.read_text().split()]
    os.kill(pids[2], signal.SIGKILL)
    thread.join(30)
    lost = found[hanging]
    assert isinstance(lost, Killed)
    assert (lost.end, lost.message) == (End.LOST, "ended with the process that it was forked from")
    assert found["double", 2] == 4
    assert all_end(pids)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_is_left_of_a_command_that_is_killed(tmp_path: Path, number: signal.Signals) -> None:
    path = tmp_path / "pids"
    with start(f"run(('say_ancestors_and_hang', {str(path)!r}))", tmp_path) as process:
        assert wait_until(path.exists)
        pids = [int(pid) for pid in path.read_text().split()]
        assert all(map(is_alive, pids))
        process.send_signal(number)
    assert process.pid not in pids
    assert all_end(pids)


def test_it_ends_with_a_command_that_is_killed_while_it_imports(tmp_path: Path) -> None:
    path = tmp_path / "pid"
    torch = f"import os, time; open({str(path)!r}, 'w').write(f'{{os.getpid()}} '); time.sleep(60)"
    with start("warm_up(); time.sleep(60)", tmp_path, torch=torch) as process:
        assert wait_until(lambda: path.exists() and path.read_text().endswith(" "))
        process.kill()
    assert all_end([int(path.read_text())])


def test_it_ends_with_a_command_that_ends(tmp_path: Path) -> None:
    ((_, supervisor, process),) = (
        map(int, line.split()) for line in output_of("print(*run(('ancestors',))['ancestors',])", tmp_path)
    )
    assert all_end([supervisor, process])


def test_a_forked_process_has_its_own(tmp_path: Path) -> None:
    code = """
parent = run(("ancestors",))["ancestors",]
child = os.fork()
found = run(("ancestors",))["ancestors",]
sys.stdout.write(f"{int(child == 0)} {found[2]} {parent[2]}\\n")
sys.stdout.flush()
if child:
    assert os.waitpid(child, 0)[1] == 0
    print(2, run(("ancestors",))["ancestors",][2], parent[2])
"""
    same: dict[str, bool] = {}
    for line in output_of(code, tmp_path, torch="", triton=""):
        who, found, parent = line.split()
        same[who] = found == parent
    assert same == {"0": True, "1": False, "2": True}


SPARED = """
import sys
import torch
import torch._refs
from tritonaudit.execute.uncompiled import spare_compiler

spare_compiler()
assert torch._refs.add(torch.ones(2, device="meta"), torch.ones(2, device="meta")).shape == (2,)
print("torch._dynamo" in sys.modules)
import torch._dynamo

assert torch._refs.add(torch.ones(2), torch.ones(2)).tolist() == [2.0, 2.0]
print(torch.compile(lambda x: x + 1, backend="eager")(torch.ones(1)).item())
"""


def test_torchs_compiler_is_imported_only_for_what_is_compiled() -> None:
    pytest.importorskip("torch", reason="torch has a compiler")
    said = subprocess.run(
        [sys.executable, "-c", SPARED], cwd=ROOT, env=environment(), capture_output=True, text=True, check=True
    )
    assert said.stdout.split() == ["False", "2.0"]
