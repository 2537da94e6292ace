"""What gpucheck says of a pair, as a test that its users would write: its shapes, its tolerances, the given inputs.

A process for one file, with gpucheck on the path, which is given what to print before its verdict.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.farm.templates import REFERENCE

_TRIALS = 5
_MOST_ELEMENTS = 1 << 22


def main() -> None:
    """Compare the pair that the first argument is the path of with its reference, and print whether it passes."""
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    path = Path(sys.argv[1])
    reference, pair = _loaded(path.with_name(REFERENCE)), _loaded(path)
    model, new = (_built(reference, one).to(device) for one in (reference.Model, pair.ModelNew))
    assert_close = import_module("gpucheck").assert_close
    is_right = True
    for inputs in _inputs(reference):
        given = [one.to(device) if isinstance(one, torch.Tensor) else one for one in inputs]
        try:
            expected = model(*given)
        except Exception:  # the shape is not for this pair
            continue
        try:
            assert_close(new(*given), expected)
        except Exception as error:  # what a test fails by
            print(f"{[tuple(one.shape) for one in given]}: {type(error).__name__}", file=sys.stderr)
            is_right = False
            break
    print(sys.argv[2] + json.dumps(is_right))


def _loaded(path: Path) -> Any:
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _built(reference: Any, kind: Any) -> Any:
    import torch

    torch.manual_seed(0)
    return kind(*reference.get_init_inputs())


def _inputs(reference: Any) -> Iterator[Sequence[Any]]:
    """Those given, drawn by some seeds, and others of gpucheck's shapes where all that is given has one shape."""
    import torch

    for seed in range(_TRIALS):
        torch.manual_seed(seed)
        yield reference.get_inputs()
    given = reference.get_inputs()
    shapes = {tuple(one.shape) for one in given if isinstance(one, torch.Tensor)}
    if len(shapes) == 1 and all(isinstance(one, torch.Tensor) for one in given):
        for shape in import_module("gpucheck").fuzz_shapes(len(shapes.pop()), seed=0):
            if torch.Size(shape).numel() <= _MOST_ELEMENTS:
                yield [torch.randn(shape, dtype=one.dtype) for one in given]


if __name__ == "__main__":
    main()
