"""Tasks in worker processes: each comes to its result or to what killed it, alone, and nothing stays behind."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.checkout import ROOT, environment
from tests.execute import tasks
from tritonaudit.data import encode
from tritonaudit.execute.killed import End, Killed
from tritonaudit.execute.messages import Note, Reply, Waited, framed, packed
from tritonaudit.execute.pool import Feed, Limits, run_tasks

LIMITS = Limits(seconds=20, memory=1 << 30)
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="macOS has no /proc")

Task = tuple[Any, ...]


def run(*items: Task, workers: int = 1, limits: Limits = LIMITS, **options: Any) -> list[Any]:
    """What the tasks come to, in the tasks' order."""
    found = list(run_tasks(tasks.call_numbered, list(enumerate(items)), workers=workers, limits=limits, **options))
    assert sorted(number for (number, _), _ in found) == list(range(len(items)))
    return [outcome for (_, _), outcome in sorted(found, key=lambda pair: pair[0][0])]


def is_alive(process: int) -> bool:
    """Whether the process runs; one that has ended and waits to be reaped by whoever adopted it does not."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True, check=False)
    return not state.stdout.startswith("Z") and bool(state.stdout)


def wait_until(condition: Callable[[], bool], seconds: float = 60) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def all_end(pids: Sequence[int]) -> bool:
    return wait_until(lambda: not any(map(is_alive, pids)))


# -- results -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("count", [0, 1, 12])
def test_every_item_has_its_result_once(workers: int, count: int) -> None:
    items = list(range(count))
    found = run_tasks(tasks.double, items, workers=workers, limits=LIMITS)
    assert sorted(found) == [(number, 2 * number) for number in items]


def test_results_come_as_they_finish() -> None:
    slow, quick = ("nap", 0.5), ("nap", 0.0)
    order = [item for item, _ in run_tasks(tasks.call, [slow, quick], workers=2, limits=LIMITS)]
    assert order == [quick, slow]


def test_workers_are_kept_and_no_more_than_the_items() -> None:
    assert len(set(run(*[("process",) for _ in range(50)]))) == 1
    assert len(set(run(("nap", 0.3), ("process",), workers=8))) == 2
    assert len(set(run(*[("process",) for _ in range(3)], workers=8))) <= 3


def test_there_must_be_a_worker() -> None:
    with pytest.raises(ValueError, match="at least 1, not 0"):
        run_tasks(tasks.double, [1], workers=0, limits=LIMITS)


def test_a_worker_is_a_clean_process_prepared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "altered", True)
    found = run(("state",), ("state",), prepare=tasks.prepare, arguments=(1, "two"))
    assert found == [([(1, "two")], False)] * 2


def test_messages_may_be_large() -> None:
    large = b"x" * (10 << 20)
    assert run(("same", large), ("same", "small"), ("same", large)) == [large, "small", large]


def test_nobody_pays_for_the_time_that_the_results_wait() -> None:
    large = b"x" * (1 << 20)  # more than a pipe holds
    for _, outcome in run_tasks(tasks.same, [large] * 3, workers=2, limits=Limits(0.5, 1 << 30)):
        time.sleep(0.6)
        assert not isinstance(outcome, Killed)


def test_workers_do_only_what_they_are_prepared_for() -> None:
    items = list(enumerate([("state",)] * 6))
    found = run_tasks(
        tasks.call_numbered,
        items,
        workers=2,
        limits=LIMITS,
        prepare=tasks.prepare,
        arguments=lambda item: ("even" if item[0] % 2 == 0 else "odd",),
    )
    assert dict(found) == {item: ([("odd",) if item[0] % 2 else ("even",)], False) for item in items}


def test_one_worker_after_the_other_where_there_may_be_only_one() -> None:
    found = run_tasks(
        tasks.call,
        [("state",), ("process",)],
        workers=1,
        limits=LIMITS,
        prepare=tasks.prepare,
        arguments=lambda item: item,
    )
    assert dict(found)["state",] == ([("state",)], False)


# -- items that are added ------------------------------------------------------------------------------------------


def test_a_result_may_add_items() -> None:
    with Feed([1]) as feed:
        found = []
        for item, outcome in run_tasks(tasks.double, feed, workers=2, limits=LIMITS):
            found.append((item, outcome))
            if item < 20:
                feed.add(outcome)
            else:
                feed.close()
    assert found == [(1, 2), (2, 4), (4, 8), (8, 16), (16, 32), (32, 64)]


def test_a_worker_waits_for_items_that_another_thread_adds() -> None:
    with Feed([("process",)]) as feed:

        def add_later() -> None:
            time.sleep(0.5)
            feed.add(("process",))
            feed.close()

        adding = threading.Thread(target=add_later)
        adding.start()
        processes = [outcome for _, outcome in run_tasks(tasks.call, feed, workers=3, limits=LIMITS)]
        adding.join()
    assert len(processes) == 2
    assert len(set(processes)) == 1


def test_a_worker_that_dies_while_it_waits_is_replaced() -> None:
    with Feed([("process",)]) as feed:
        processes = []
        for _, process in run_tasks(tasks.call, feed, workers=1, limits=LIMITS):
            processes.append(process)
            if len(processes) == 1:
                threading.Timer(0.3, os.kill, (process, signal.SIGKILL)).start()
                threading.Timer(1.0, feed.add, (("process",),)).start()
            else:
                feed.close()
    assert len(set(processes)) == 2


def test_a_feed_that_is_closed_with_nothing_in_it_comes_to_nothing() -> None:
    with Feed[int]() as feed:
        feed.close()
        assert list(run_tasks(tasks.double, feed, workers=2, limits=LIMITS)) == []


def test_where_no_worker_starts_each_item_that_is_added_comes_to_that() -> None:
    with Feed([1]) as feed:
        found = []
        preparing: Any = {"prepare": tasks.prepare_badly, "arguments": ("fail", os.devnull)}
        for item, outcome in run_tasks(tasks.double, feed, workers=2, limits=LIMITS, **preparing):
            assert isinstance(outcome, Killed)
            found.append(item)
            if item == 3:
                feed.close()
            else:
                feed.add(item + 1)
    assert found == [1, 2, 3]


# -- what is said on the way ---------------------------------------------------------------------------------------


def heard(*items: Task, limits: Limits = LIMITS, workers: int = 1) -> tuple[list[tuple[Task, Any]], dict[Task, Any]]:
    """What the tasks say, and what they come to."""
    said: list[tuple[Task, Any]] = []
    outcomes = dict(
        run_tasks(tasks.call, items, workers=workers, limits=limits, hear=lambda task, word: said.append((task, word)))
    )
    return said, outcomes


def test_what_a_task_says_is_heard_in_order_and_of_the_task() -> None:
    one, two = ("speak", ("a", 5.0, 0.0), (b"x" * (3 << 20), 5.0, 0.0)), ("speak", ("b", 5.0, 0.0))
    said, outcomes = heard(one, two)
    assert said == [(one, "a"), (one, b"x" * (3 << 20)), (two, "b")]
    assert outcomes == {one: "done", two: "done"}


def test_it_is_heard_before_the_task_ends() -> None:
    def hear(_: Task, began: float) -> None:
        assert time.time() - began < 1.5

    began = ("speak", (time.time(), 5.0, 3.0))
    assert [outcome for _, outcome in run_tasks(tasks.call, [began], workers=1, limits=LIMITS, hear=hear)] == ["done"]


def test_a_task_that_does_not_say_its_next_word_in_time_is_killed() -> None:
    late = ("speak", ("a", 5.0, 0.0), ("b", 0.5, 30.0))
    began = time.monotonic()
    said, outcomes = heard(late, ("double", 2))
    assert [word for _, word in said] == ["a", "b"]
    assert (outcomes[late].end, outcomes[late].message) == (End.TIMEOUT, "took longer than 0.5 s")
    assert outcomes["double", 2] == 4
    assert time.monotonic() - began < 15


def test_words_do_not_lengthen_a_task() -> None:
    long = ("speak", *[("a", 30.0, 0.4)] * 20)
    _, outcomes = heard(long, limits=Limits(1, 1 << 30))
    assert (outcomes[long].end, outcomes[long].message) == (End.TIMEOUT, "took longer than 1 s")


def test_what_a_task_printed_after_its_last_word_is_kept_however_late_that_is_heard() -> None:
    items = [("speak_and_crash", 1, 2)]
    outcomes = run_tasks(tasks.call, items, workers=1, limits=LIMITS, hear=lambda _, word: time.sleep(1.0))
    (killed,) = [outcome for _, outcome in outcomes]
    assert isinstance(killed, Killed)
    assert (killed.end, killed.log) == (End.CRASH, "after the last word")


def test_a_forked_task_speaks_once() -> None:
    said, outcomes = heard(("speak_twice_over", "a"))
    assert [word for _, word in said] == ["a"]
    assert list(outcomes.values()) == ["done"]


def test_a_word_that_cannot_be_read_ends_its_task() -> None:
    _, outcomes = heard(("say_what_cannot_be_read",), ("double", 2))
    killed = outcomes[("say_what_cannot_be_read",)]
    assert (killed.end, killed.message.split(":")[0]) == (End.RAISED, "raised tritonaudit.data.NotData")
    assert outcomes["double", 2] == 4


# -- what only hostile code sends ----------------------------------------------------------------------------------


def sent(message: bytes) -> tuple[str, bytes]:
    return "write_replies", framed(message)


def test_a_pickle_from_a_worker_is_not_opened(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    pickled = pickle.dumps(tasks.Touching(str(mark)))
    notices = [pickled, packed(Reply(pickled)), packed(Note(pickled, 5))]
    _, outcomes = heard(*map(sent, notices), ("double", 2))
    *killed, right = outcomes.values()
    assert {(one.end, one.message.split(":")[0]) for one in killed} == {(End.RAISED, "said what cannot be read")}
    assert right == 4
    assert not mark.exists()


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (packed(Note(encode("a"), float("inf"))), "it does not say when the next one comes"),
        (packed(Note(encode("a"), float("nan"))), "it does not say when the next one comes"),
        (packed(Waited(float("nan"), 1.0)), "it does not say how long it has waited"),
        (packed(Note(b"[" * 100_000, 5.0)), "it is nested too deeply"),
        (b'{"":"Reply"}', "TypeError: {'': 'Reply'} is no Reply"),
        (b"\xff", "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte"),
    ],
)
def test_what_no_worker_says_ends_its_task(message: bytes, reason: str) -> None:
    _, outcomes = heard(sent(message), ("double", 2))
    killed, right = outcomes.values()
    assert (killed.end, right) == (End.RAISED, 4)
    assert killed.message.startswith(f"said what cannot be read: {reason}"), killed.message


def test_a_message_beyond_all_bounds_is_not_waited_for() -> None:
    _, outcomes = heard(("write_replies", (1 << 62).to_bytes(8, "big") + b"x"), ("double", 2))
    killed, right = outcomes.values()
    assert killed.message == "said what cannot be read: it has 4,611,686,018,427,387,904 bytes"
    assert right == 4


def test_half_a_message_is_waited_for_as_long_as_its_task_may_take() -> None:
    half = len(b"xy").to_bytes(8, "big") + b"x"
    _, outcomes = heard(("write_replies", half), ("double", 2), limits=Limits(1, 1 << 30))
    assert outcomes["double", 2] == 4


def test_ten_thousand_random_messages_leave_the_others_alone() -> None:
    random = ("write_random_replies", 10_000)
    _, outcomes = heard(random, ("double", 2), ("double", 3), workers=2)
    assert isinstance(outcomes[random], Killed)
    assert (outcomes["double", 2], outcomes["double", 3]) == (4, 6)


def test_an_answer_that_nobody_asked_for_costs_the_worker_alone() -> None:
    forged, *right = run(sent(packed(Reply(encode("forged")))), ("double", 2), ("double", 3))
    assert forged.message == "said what cannot be read: an answer to nothing that was asked"
    assert right == [4, 6]


# -- deaths --------------------------------------------------------------------------------------------------------

BY_SIGKILL = "killed by signal 9 (SIGKILL), as the kernel does when the machine runs out of memory"
DEATHS: list[tuple[Task, End, str]] = [
    (("abort",), End.CRASH, "killed by signal 6 (SIGABRT)"),
    (("segfault",), End.CRASH, "killed by signal 11 (SIGSEGV)"),
    (
        ("kill_itself",),
        End.LOST,
        BY_SIGKILL,
    ),
    (("kill_supervisor",), End.LOST, BY_SIGKILL),
    (("leave", 3), End.EXIT, "exited with code 3"),
    (("leave", 0), End.EXIT, "exited with code 0"),
    (("leave_politely", 3), End.EXIT, "exited with code 3"),
    (("leave_politely", None), End.EXIT, "exited with code 0"),
    (("leave_politely", "no GPU"), End.EXIT, "exited with code 1: no GPU"),
    (("leave_from_a_thread", 4), End.EXIT, "exited with code 4"),
    (("hang",), End.TIMEOUT, "took longer than 1 s"),
    (("hang_deaf",), End.TIMEOUT, "took longer than 1 s"),
    (("hang_in_c",), End.TIMEOUT, "took longer than 1 s"),
    (("stop",), End.TIMEOUT, "took longer than 1 s"),
    (("shout_on",), End.TIMEOUT, "took longer than 1 s"),
    (("fail", "no such\n  shape"), End.RAISED, "raised ValueError: no such shape (FILE:LINE)"),
    (("interrupt",), End.RAISED, "raised KeyboardInterrupt (FILE:LINE)"),
    (("recurse",), End.RAISED, "raised RecursionError: maximum recursion depth exceeded (FILE:LINE)"),
    (("close_everything",), End.LOST, "killed by signal 13 (SIGPIPE)"),
    (("exhaust",), End.MEMORY, "raised MemoryError (FILE:LINE)"),
    (
        ("fail_wordlessly",),
        End.RAISED,
        "raised tests.execute.tasks.SomeError: its text raises RuntimeError (FILE:LINE)",
    ),
    (("no_such_task",), End.RAISED, "raised KeyError: 'no_such_task' (FILE:LINE)"),
    (
        ("give_unpicklable",),
        End.RAISED,
        "gave a result that is not data: Unpicklable is not data",
    ),
    (
        ("same", tasks.Unpicklable()),
        End.RAISED,
        "cannot be pickled: raised ValueError: never to be pickled (FILE:LINE)",
    ),
    (("same", tasks.Broken()), End.RAISED, "raised ValueError: never to be unpickled (FILE:LINE)"),
]


@pytest.fixture(scope="module")
def outcomes() -> list[Any]:
    """What the deadly tasks come to, each followed by a harmless one."""
    items = [task for number, (deadly, _, _) in enumerate(DEATHS) for task in (deadly, ("double", number))]
    return run(*items, workers=2, limits=Limits(seconds=1, memory=1 << 30))


def test_deadly_tasks_cost_themselves(outcomes: list[Any]) -> None:
    assert outcomes[1::2] == [2 * number for number in range(len(DEATHS))]


@pytest.mark.parametrize("number", range(len(DEATHS)), ids=[death[0][0] for death in DEATHS])
def test_a_deadly_task_says_what_ended_it(number: int, outcomes: list[Any]) -> None:
    killed, (_, end, message) = outcomes[2 * number], DEATHS[number]
    assert killed.end is end
    start, found, line = killed.message.partition(f"{tasks.__file__}:")
    assert start + ("FILE:LINE)" if found and line.rstrip(")").isdigit() else found + line) == message


def test_recursion_beyond_the_limit_costs_itself() -> None:
    killed, after = run(("recurse_beyond_the_limit",), ("double", 1))
    assert isinstance(killed, Killed)
    assert after == 2


def test_a_task_that_raised_may_have_spoilt_its_worker() -> None:
    """As an error of the GPU does, after which a process can use it no more."""
    first, _, second = run(("process",), ("fail", "so"), ("process",))
    assert first != second


@LINUX
def test_workers_that_went_leave_no_file_open() -> None:
    before = len(os.listdir("/proc/self/fd"))
    found = run_tasks(tasks.call, [("fail", "so"), ("abort",)] * 3, workers=1, limits=LIMITS)
    during = [len(os.listdir("/proc/self/fd")) for _ in found]
    assert max(during) <= before + 8
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_file_in_the_place_of_a_pipe_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "mine"
    killed, after = run(("close_and_open", str(path)), ("double", 2))
    assert (killed.end, after, path.read_bytes()) == (End.LOST, 4, b"")


# -- memory --------------------------------------------------------------------------------------------------------


@LINUX
@pytest.mark.parametrize("way", ["fill", "fill_in_a_child"])
def test_memory_is_limited(way: str) -> None:
    limits = Limits(seconds=20, memory=128 << 20)
    killed, after = run((way, 200), ("double", 2), limits=limits)
    assert (killed.end, killed.message) == (End.MEMORY, "held more than 0.125 GiB of memory")
    assert after == 4


@LINUX
def test_reserved_memory_is_not_held() -> None:
    assert run(("reserve", 64)) == [64]


@LINUX
def test_memory_that_processes_share_is_held_once() -> None:
    assert run(("share", 150), limits=Limits(20, 250 << 20)) == [150]


@LINUX
def test_a_worker_leaves_no_core_and_is_the_first_to_go_where_memory_runs_out() -> None:
    assert run(("limits",)) == [((0, 0), "1000")]


@LINUX
def test_memory_that_stays_behind_is_not_the_next_tasks() -> None:
    first, second, third = run(("keep", 150), ("process",), ("process",), limits=Limits(20, 250 << 20))
    assert first != second == third


# -- what stays behind ---------------------------------------------------------------------------------------------


@LINUX
@pytest.mark.parametrize("way", ["child", "session", "orphan"])
def test_a_process_that_stays_behind_ends_with_the_task(tmp_path: Path, way: str) -> None:
    pids = tmp_path / "pids"
    first, second, third = run((f"start_{way}", str(pids)), ("process",), ("process",))
    assert first != second == third
    assert all_end([first, second, int(pids.read_text())])


@LINUX
@pytest.mark.parametrize(
    ("way", "limits", "end"), [("abort", LIMITS, End.CRASH), ("hang", Limits(1, 1 << 30), End.TIMEOUT)]
)
def test_a_dead_workers_children_are_killed(tmp_path: Path, way: str, limits: Limits, end: End) -> None:
    pids = tmp_path / "pids"
    (killed,) = run((f"start_all_and_{way}", str(pids)), limits=limits)
    assert killed.end is end
    assert all_end([int(pid) for pid in pids.read_text().split()[:3]])


def test_a_forked_child_that_returns_is_not_heard() -> None:
    assert run(("fork_and_return",), ("double", 1)) == ["parent", 2]


def test_a_thread_or_an_alarm_that_stays_behind_does_not_hit_the_next_task() -> None:
    assert run(("start_thread",), ("nap", 0.6))[1] == 0.6
    assert run(("set_alarm",), ("nap", 0.4))[1] == 0.4


# -- what is printed -----------------------------------------------------------------------------------------------


def test_what_is_printed_goes_to_the_log_of_the_task(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)  # it would do a part of the pool's work
    options = {"prepare": tasks.prepare, "workers": 2}
    first, _, second = run(("chatter", "first"), ("double", 1), ("chatter", "second"), **options)
    for name, killed in (("first", first), ("second", second)):
        words = ["print", "error", "write", "printf", "child", "unfinished"]
        assert killed.log.splitlines() == [f"{name} {word}" for word in words]
    assert capfd.readouterr() == ("", "")


def test_a_log_is_the_last_lines() -> None:
    long, wide = run(("shout", 5000, 9), ("shout", 400, 1000))
    assert long.log.splitlines() == [str(number).rjust(9, ".") for number in range(4900, 5000)]
    assert len(wide.log) <= 1 << 14
    assert wide.log.endswith(".399")


def test_streams_are_opened_for_each_task() -> None:
    found = run(("close_streams",), ("chatter", "next"), ("close_streams",), ("read_stdin",))
    assert found[1].log.startswith("next print\nnext error\nnext write\n")
    assert found[3] == ""


@LINUX
def test_child_processes_get_the_streams_and_nothing_else() -> None:
    assert run(("list_descriptors",)) == [["0", "1", "2", "3"]], "3 is the listed folder"


def test_a_log_does_not_fill_the_disk() -> None:
    (size,) = run(("shout_for", 0.5))
    assert size < 4 << 20


def test_stdin_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"secret")
    os.close(writing)
    saved = os.dup(0)
    os.dup2(reading, 0)
    try:
        assert run(("read_stdin",)) == [""]
    finally:
        os.dup2(saved, 0)


# -- preparing -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("way", "end", "message"),
    [
        ("abort", End.CRASH, "its worker could not start: killed by signal 6 (SIGABRT)"),
        ("exhaust", End.MEMORY, "its worker could not start: raised MemoryError ("),
        ("hang", End.TIMEOUT, "its worker could not start: took longer than 0.7 s"),
        ("close_everything", End.LOST, "its worker could not start: killed by signal 13 (SIGPIPE)"),
    ],
)
def test_where_no_worker_can_be_prepared_every_item_says_so(tmp_path: Path, way: str, end: End, message: str) -> None:
    attempts = tmp_path / "attempts"
    items = [("double", number) for number in range(20)]
    limits = Limits(20, 1 << 30, start=0.7)
    found = run(*items, workers=2, limits=limits, prepare=tasks.prepare_badly, arguments=(way, str(attempts)))
    assert {outcome.end for outcome in found} == {end}
    assert all(outcome.message.startswith(message) for outcome in found)
    assert len(attempts.read_text().split()) <= 2


def test_a_worker_that_cannot_be_replaced_costs_an_item(tmp_path: Path) -> None:
    options = {"prepare": tasks.prepare_once, "arguments": (str(tmp_path / "marker"),)}
    first, second, *rest = run(("double", 1), ("abort",), ("double", 2), ("double", 3), **options)
    assert (first, second.end) == (2, End.CRASH)
    assert all(outcome.message.startswith("its worker could not start: raised RuntimeError") for outcome in rest)


# -- the end of the parent -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["closed", "dropped"])
def test_an_abandoned_run_leaves_no_process(tmp_path: Path, how: str) -> None:
    pids = tmp_path / "pids"
    items = [("process",), ("start_all_and_hang", str(pids)), ("process",)]
    found = run_tasks(tasks.call, items, workers=2, limits=LIMITS)
    _, worker = next(found)
    assert wait_until(lambda: pids.exists() and "ready" in pids.read_text())
    if how == "closed":
        found.close()  # type: ignore[attr-defined]
    del found
    assert all_end([worker, *map(int, pids.read_text().split()[:-1])])


SCRIPT = """
from tests.execute import tasks
from tritonaudit.execute.pool import Feed, Limits, run_tasks

for item, outcome in run_tasks(tasks.call, {items!r}, workers=2, limits=Limits(20, 1 << 30)):
    print(item, outcome)
"""


def start(*arguments: str | Path, cwd: Path, path: Sequence[Path] = ()) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *map(str, arguments)],
        cwd=cwd,
        env={**environment(), "PYTHONPATH": os.pathsep.join(map(str, (ROOT, *path)))},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@LINUX
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_workers_die_with_their_parent(tmp_path: Path, number: signal.Signals) -> None:
    pids = tmp_path / "pids"
    code = SCRIPT.format(items=[("start_all_and_hang", str(pids)), ("hang_in_c",)])
    with start("-c", code, cwd=tmp_path) as parent:
        assert wait_until(lambda: pids.exists() and "ready" in pids.read_text())
        os.killpg(parent.pid, number)
        output, errors = parent.communicate(timeout=60)
    assert output == ""
    assert errors.endswith("KeyboardInterrupt\n") if number == signal.SIGINT else errors == ""
    assert all_end([int(pid) for pid in pids.read_text().split()[:-1]])


@pytest.mark.parametrize("way", ["script", "module", "command", "stdin", "console script"])
def test_the_parent_may_be_any_program(tmp_path: Path, way: str) -> None:
    """Among them scripts without a guard, and with modules beside them that are named as what a worker imports."""
    code = SCRIPT.format(items=[("double", 1), ("abort",)])
    (tmp_path / "pickle.py").write_text("raise SystemExit('the wrong module')")
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin" / "program.py"
    script.write_text(code)
    (tmp_path / "bin" / "console").write_text(f"#!{sys.executable}\nimport program\n")
    arguments = {
        "script": (script,),
        "module": ("-c", "import sys, runpy; del sys.path[0]; runpy.run_module('program', run_name='__main__')"),
        "command": ("-c", f"import sys; del sys.path[0]\n{code}"),
        "stdin": ("-c", f"import io, sys; del sys.path[0]; exec(io.StringIO({code!r}).read())"),
        "console script": (tmp_path / "bin" / "console",),
    }[way]
    with start(*arguments, cwd=tmp_path, path=[tmp_path / "bin"]) as parent:
        output, errors = parent.communicate(timeout=60)
    assert errors == ""
    assert sorted(line.split(" Killed")[0] for line in output.splitlines()) == ["('abort',)", "('double', 1) 2"]


def test_the_parent_may_lack_the_standard_streams(tmp_path: Path) -> None:
    code = SCRIPT.format(items=[("double", 1), ("abort",)]).replace("print(", "print(file=open('found', 'a'), *(")
    code = code.replace("outcome)", "outcome))")
    command = f'exec {sys.executable} -c "$CODE" <&- >&- 2>&-'
    variables = {**environment(), "PYTHONPATH": str(ROOT), "CODE": code}
    subprocess.run(["sh", "-c", command], cwd=tmp_path, env=variables, check=True, timeout=60)
    assert "('double', 1) 2" in (tmp_path / "found").read_text().splitlines()
