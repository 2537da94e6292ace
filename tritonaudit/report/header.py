"""What stands above a report: the kernels and files that it is about, and with what it was made."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from tritonaudit import __version__
from tritonaudit.compile.installed import triton_version
from tritonaudit.report.evidence import Evidence
from tritonaudit.report.words import Code, Words, among, words
from tritonaudit.suites.stage import CPU_ENGINE

_MOST_NAMED = 3


def header(evidence: Evidence) -> dict[str, Words]:
    """What is said under which name, in order."""
    files = among((Code(kernel.path) for kernel in evidence.kernels), _MOST_NAMED)
    return {
        "Kernel": kernel_names(evidence),
        "File": files or words("none"),
        "Date": words(evidence.about.date),
        "Auditor": words(_auditor(evidence)),
    }


def kernel_names(evidence: Evidence) -> Words:
    """The kernels, of which few are named."""
    names = among((Code(kernel.name) for kernel in evidence.kernels), _MOST_NAMED)
    return names or words(f"none named ({evidence.audit.kernels} read)")


def _auditor(evidence: Evidence) -> str:
    gpu = evidence.measured.gpu if evidence.measured is not None else None
    ran = evidence.ran.device if evidence.ran is not None else CPU_ENGINE if evidence.traced is not None else None
    device = ran if ran is not None else gpu.name if gpu is not None else "nothing was run"
    parts = (f"Triton {triton_version() or 'not installed'}", f"PyTorch {torch_version()}", device)
    return f"tritonaudit {__version__} ({', '.join(parts)})"


def torch_version() -> str:
    """The version of the PyTorch that is installed, learnt without importing it."""
    try:
        return version("torch")
    except PackageNotFoundError:
        return "not installed"
