"""The kernels that are mutated: where they stand, the one shape of the plain comparison, and awkward cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

from tritonaudit.subject.model import Case, Layout, Subject
from tritonaudit.subject.sweep import size_names

FOLDER = Path(__file__).resolve().parent / "subjects"
DTYPES = ("float32", "float16", "bfloat16")

_AWKWARD = (1, 7, 130, 65, 0, 33, 1000)
_AROUND = 14
"""How many awkward cases a kernel has."""

PLAIN: Mapping[str, Mapping[str, int]] = {
    "attention": {"batch": 2, "heads": 4, "tokens": 128, "head_dim": 64},
    "bias_gelu": {"rows": 64, "cols": 1024},
    "causal_conv": {"batch": 4, "channels": 32, "length": 512, "width": 4},
    "column_sum": {"rows": 1024, "cols": 256},
    "cross_entropy": {"rows": 128, "classes": 2048},
    "cumulative_sum": {"rows": 64, "cols": 2048},
    "dropout": {"rows": 64, "cols": 1024},
    "embedding": {"count": 256, "entries": 512, "dim": 256},
    "grand_total": {"rows": 64, "cols": 1024},
    "group_norm": {"batch": 4, "groups": 8, "per_group": 8, "length": 256},
    "layer_norm": {"rows": 64, "cols": 2048},
    "layer_norm_backward": {"rows": 16, "cols": 1024},
    "matmul": {"m": 256, "n": 256, "k": 256},
    "quantise": {"rows": 64, "cols": 2048},
    "rotary": {"batch": 2, "tokens": 64, "heads": 8, "half": 32},
    "softmax": {"rows": 64, "cols": 2048},
}
"""One shape for each kernel, such as a benchmark would have: powers of 2."""


@dataclass(frozen=True)
class Kernel:
    """A correct kernel: a folder with its file and the spec file of its subject."""

    name: str

    @property
    def file(self) -> Path:
        return FOLDER / self.name / f"{self.name}.py"

    @property
    def spec(self) -> Path:
        return FOLDER / self.name / f"audit_{self.name}.py"

    @property
    def plain(self) -> Case:
        """The case of the plain comparison, in float32."""
        return Case(PLAIN[self.name])


def kernels() -> tuple[Kernel, ...]:
    """All of them, by name."""
    return tuple(Kernel(path.name) for path in sorted(FOLDER.iterdir()) if (path / f"{path.name}.py").is_file())


def awkward_cases(subject: Subject) -> Iterator[Case]:
    """Cases that a kernel must bear: sizes that blocks do not divide, single and none, every dtype and layout."""
    names = size_names(subject)
    layouts, dtypes = cycle(Layout), cycle(subject.dtypes)
    for number in range(_AROUND):
        sizes = {}
        for place, name in enumerate(names):
            offered = subject.sizes.get(name) or (_AWKWARD if len(names) <= 2 else _AWKWARD[:-1])
            sizes[name] = offered[(number * (1 + place % 2) + 2 * place) % len(offered)]
        yield Case(sizes, next(dtypes), next(layouts))
