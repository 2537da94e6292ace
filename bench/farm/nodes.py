"""Whether a farm on a Ray cluster, of which nodes are killed and added on the way, says what one on this machine says.

The nodes are processes of this machine, with a core each. The exit code is 1 where a subject has no line, or more than
one, or another one than without Ray.
"""

from __future__ import annotations

import os
import random
import tempfile
import time
from argparse import ArgumentParser, Namespace
from pathlib import Path

from bench.corpus import ROOT
from bench.farm.kills import subjects
from bench.hostile.subjects import write
from tritonaudit.audit import RUN_PARTS, AuditRequest
from tritonaudit.config import Config
from tritonaudit.farm.driving import Driver, Reported
from tritonaudit.farm.events import Places
from tritonaudit.farm.job import Asked
from tritonaudit.farm.local import LocalPlaces

_STORE = 80 << 20


def add_arguments(parser: ArgumentParser) -> None:
    """What the command line takes."""
    parser.add_argument("--subjects", type=int, default=400, metavar="N", help="[default: 400]")
    parser.add_argument("--nodes", type=int, default=4, metavar="N", help="at first [default: 4]")
    parser.add_argument("--killed", type=int, default=2, metavar="N", help="of them [default: 2]")
    parser.add_argument("--added", type=int, default=1, metavar="N", help="[default: 1]")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="at a time without Ray [default: 2]")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of when nodes come and go [default: 1]")


def run(given: Namespace) -> int:
    """Run both, and compare."""
    with tempfile.TemporaryDirectory(prefix="nodes-") as name:
        project = Path(name, "project")
        write(project, subjects(given.subjects))
        os.environ["TRITONAUDIT_CACHE"] = f"{name}/cache"
        os.environ["PYTHONPATH"] = os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", "")))
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        os.chdir(project)
        request = AuditRequest(RUN_PARTS, 120, 1, "cpu", most_cases=0, seed=7)
        asked = Asked(Config(root=project), request)
        files = [(path.name, "0" * 64) for path in sorted(project.glob("audit_*.py"))]
        expected = _lines("this machine", files, asked, LocalPlaces(asked, given.jobs))
        found = _on_ray(given, files, asked)
        os.chdir(ROOT)
    paths = [one.path for one in found]
    lines = {one.path: one.line for one in found}
    differing = [one.path for one in expected if lines.get(one.path) != one.line]
    print(f"lost {len(files) - len(lines)}, double {len(paths) - len(lines)}, differing {differing or 'none'}")
    return int(len(paths) != len(files) or bool(differing))


def _lines(where: str, files: list[tuple[str, str]], asked: Asked, places: Places) -> list[Reported]:
    began = time.monotonic()
    try:
        found = list(Driver(files, asked.config, places).lines())
    finally:
        places.close()
    print(f"{where}: {len(found)} lines in {time.monotonic() - began:.0f} s", flush=True)
    return found


def _on_ray(given: Namespace, files: list[tuple[str, str]], asked: Asked) -> list[Reported]:
    import ray
    from ray.cluster_utils import Cluster

    from tritonaudit.farm.on_ray import ray_places

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    nodes = [cluster.add_node(num_cpus=1, object_store_memory=_STORE) for _ in range(given.nodes)]
    chance = random.Random(given.seed)
    deeds = ["kill"] * given.killed + ["add"] * given.added
    when = dict(zip(sorted(chance.sample(range(1, len(files) * 3 // 4), len(deeds))), deeds, strict=True))
    began = time.monotonic()
    found: list[Reported] = []
    places = ray_places(asked, cluster.address, [Path()])
    try:
        for one in Driver(files, asked.config, places).lines():
            found.append(one)
            match when.get(len(found)):
                case "kill":
                    cluster.remove_node(nodes.pop(chance.randrange(len(nodes))), allow_graceful=False)
                    print(f"  after {len(found)} lines a node was killed", flush=True)
                case "add":
                    nodes.append(cluster.add_node(num_cpus=1, object_store_memory=_STORE))
                    print(f"  after {len(found)} lines a node was added", flush=True)
    finally:
        places.close()
        ray.shutdown()
        cluster.shutdown()
    print(f"a cluster of {given.nodes} nodes: {len(found)} lines in {time.monotonic() - began:.0f} s", flush=True)
    return found
