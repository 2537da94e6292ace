"""Collects the subjects of `audit_*.py` files: each has a test of every suite, which share what trying it came to.

The user's code runs in worker processes alone, as in an audit.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from tritonaudit.config import Config, ConfigError, project_config
from tritonaudit.execute.starting import warm_up
from tritonaudit.finding import Problem
from tritonaudit.hardware.part_file import PartFileError
from tritonaudit.measure.stage import NO_GPU, MeasureAudit, MeasureRequest, measure_subjects
from tritonaudit.progress import SILENT
from tritonaudit.source.discover import project_root
from tritonaudit.subject.find import kind_of
from tritonaudit.suites.running import SubjectKey
from tritonaudit.suites.stage import NoGpu, RunAudit, RunRequest, Where, gpu_for, run_subjects
from tritonaudit.suites.subjects import subjects_of
from tritonaudit.suites.suite import Suite
from tritonaudit.testing.messages import Property, measured_properties, run_properties, summary_of, text_of
from tritonaudit.testing.suite import Verdict, verdict_of_measuring, verdict_of_run

_TIMED = "tritonaudit timing"
"""The group, of `--dist loadgroup`, of all tests that time: they would disturb each other."""


class AuditWarning(UserWarning):
    """A finding below the level that fails a test."""


class Plugin:
    """What `--tritonaudit` adds to a session; the GPU is looked for once."""

    def __init__(self, config: pytest.Config) -> None:
        self.seconds: float = config.getoption("tritonaudit_budget")
        seed: int | None = config.getoption("tritonaudit_seed")
        self.seed = secrets.randbits(32) if seed is None else seed
        self.is_strict: bool = config.getoption("tritonaudit_strict")
        self.device = Where(config.getoption("tritonaudit_device"))
        self.is_distributed = config.pluginmanager.hasplugin("xdist")
        if config.getoption("dist", "no") == "no":  # else it is the processes that run the tests which need one
            warm_up()
        config.addinivalue_line("markers", "gpu: needs a GPU (deselect with -m 'not gpu')")

    @cached_property
    def gpu(self) -> str:
        """The name of the GPU, empty where the CPU engine runs the launches. Raises UsageError."""
        try:
            return gpu_for(self.device)
        except NoGpu as error:
            raise pytest.UsageError(f"--tritonaudit-device=gpu: {error}") from error

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Any:
        """What spreads tests with `-n` alone, which is `--dist load`, and with `--dist loadgroup`."""
        if config.getoption("dist") not in ("load", "loadgroup"):
            return None
        from tritonaudit.testing.spreading import SubjectScheduling

        return SubjectScheduling(config, log)

    @pytest.hookimpl
    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        is_ours = file_path.name.startswith("audit_") and file_path.suffix == ".py" and kind_of(file_path) is not None
        return AuditFile.from_parent(parent, path=file_path, plugin=self) if is_ours else None


class AuditFile(pytest.File):
    """A file with subjects."""

    def __init__(self, *, plugin: Plugin, **said: Any) -> None:
        super().__init__(**said)
        self._plugin = plugin

    def collect(self) -> Iterable[pytest.Collector]:
        subjects, problems, _ = subjects_of([self.path], 1, bool(self._plugin.gpu), SILENT)
        if problems:
            raise self.CollectError("\n".join(map(_shown, problems)))
        try:
            config = project_config(project_root(self.path))
        except ConfigError as error:
            raise self.CollectError(str(error)) from error
        for key in subjects:
            yield SubjectNode.from_parent(self, name=key[1], key=key, plugin=self._plugin, audit_config=config)


class SubjectNode(pytest.Collector):
    """A subject, which is run once and measured once, when the first of its tests asks for that."""

    def __init__(self, *, key: SubjectKey, plugin: Plugin, audit_config: Config, **said: Any) -> None:
        super().__init__(**said)
        self.plugin = plugin
        self._key = key
        self.audit_config = audit_config

    def collect(self) -> Iterable[pytest.Item]:
        for suite in Suite:
            yield SuiteTest.from_parent(self, name=suite.value, suite=suite)

    @cached_property
    def ran(self) -> RunAudit:
        """What trying it came to."""
        request = RunRequest(self.plugin.seconds, device=self.plugin.device, seed=self.plugin.seed)
        ran = run_subjects([self._key], self.audit_config, request, self.plugin.gpu)
        if ran.is_interrupted:
            raise KeyboardInterrupt
        return ran

    @cached_property
    def measured(self) -> MeasureAudit:
        """What timing it came to."""
        request = MeasureRequest(self.plugin.seconds, device=self.plugin.device)
        measured = measure_subjects([self._key], self.audit_config, request)
        if measured.is_interrupted:
            raise KeyboardInterrupt
        return measured


class SuiteFailed(Exception):
    """A suite found something; the text says what."""


class SuiteTest(pytest.Item):
    """A suite of a subject."""

    parent: SubjectNode

    def __init__(self, *, suite: Suite, **said: Any) -> None:
        super().__init__(**said)
        self._suite = suite
        is_timed = suite is Suite.PERFORMANCE
        if is_timed:
            self.add_marker(pytest.mark.gpu)
        if self.parent.plugin.is_distributed:
            self.add_marker(pytest.mark.xdist_group(_TIMED if is_timed else f"{self.path.stem}.{self.parent.name}"))

    def runtest(self) -> None:
        if self._suite is Suite.PERFORMANCE and not self.parent.plugin.gpu:
            raise _skipped(NO_GPU)
        verdict, properties = self._done()
        self.user_properties += properties
        if verdict.failed:
            raise SuiteFailed(text_of(verdict))
        for finding in verdict.findings:
            self.warn(AuditWarning(summary_of(finding)))
        if verdict.unknown and self.parent.plugin.is_strict:
            raise SuiteFailed(verdict.unknown)
        if verdict.unknown:
            raise _skipped(verdict.unknown)

    def _done(self) -> tuple[Verdict, Iterator[Property]]:
        subject, config = self.parent, self.parent.audit_config
        if self._suite is not Suite.PERFORMANCE:
            verdict = verdict_of_run(self._suite, subject.ran, config)
            return verdict, run_properties(subject.ran, verdict)
        try:
            verdict = verdict_of_measuring(subject.measured, config)
        except PartFileError as error:
            raise SuiteFailed(str(error)) from error
        return verdict, measured_properties(subject.measured, verdict)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *args: Any, **kwargs: Any) -> Any:
        if isinstance(excinfo.value, SuiteFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, *args, **kwargs)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, 0, f"{self.parent.name}::{self.name}"


def _skipped(reason: str) -> BaseException:
    """Skips a test with that reason, as at its own file and not here."""
    return pytest.skip.Exception(reason, _use_item_location=True)


def _shown(problem: Problem) -> str:
    place = problem.path if problem.line is None else f"{problem.path}:{problem.line}"
    return f"{place}: {problem.message}"
