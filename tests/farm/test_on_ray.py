"""A farm on a Ray cluster of four nodes, two of which are killed on the way, and one added."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.hostile.subjects import KERNELS
from tests.checkout import ROOT
from tests.cli.test_audit_jsonl import SPEC
from tritonaudit.audit import AuditRequest
from tritonaudit.config import Config
from tritonaudit.farm.driving import Driver, Reported
from tritonaudit.farm.job import Asked
from tritonaudit.farm.local import LocalPlaces

pytest.importorskip("torch")
pytest.importorskip("triton")
ray = pytest.importorskip("ray")

FILES = [f"audit_{number}.py" for number in range(4)]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").touch()
    (folder / "kernels.py").write_text(KERNELS)
    for name in FILES:
        (folder / name).write_text(SPEC.format(kernel="wrong_kernel" if name == FILES[-1] else "double_kernel"))
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", ""))))
    monkeypatch.setenv("TRITONAUDIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    return folder


@pytest.fixture
def cluster(project: Path) -> Iterator[Any]:
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    try:
        yield made
    finally:
        ray.shutdown()
        made.shutdown()


@pytest.mark.slow
def test_nodes_come_and_go_and_the_lines_are_those_of_this_machine(project: Path, cluster: Any) -> None:
    from tritonaudit.farm.on_ray import ray_places

    asked = Asked(Config(root=project), AuditRequest(frozenset(("correctness",)), 60, 1, "cpu", most_cases=0, seed=3))
    files = [(name, "0" * 64) for name in FILES]
    nodes = [cluster.add_node(num_cpus=1, object_store_memory=80 << 20) for _ in range(4)]
    places = ray_places(asked, cluster.address, [project])
    reported: list[Reported] = []
    try:
        for one in Driver(files, asked.config, places).lines():
            reported.append(one)
            if len(reported) == 1:
                for node in nodes[:2]:
                    cluster.remove_node(node, allow_graceful=False)
                cluster.add_node(num_cpus=1, object_store_memory=80 << 20)
    finally:
        places.close()
    local = LocalPlaces(asked, 2)
    try:
        expected = list(Driver(files, asked.config, local).lines())
    finally:
        local.close()
    assert sorted(one.path for one in reported) == FILES
    assert {one.path: json.loads(one.line) for one in reported} == {one.path: json.loads(one.line) for one in expected}
    assert {one.path: one.verdict for one in reported} == {**dict.fromkeys(FILES[:-1], "pass"), FILES[-1]: "fail"}
