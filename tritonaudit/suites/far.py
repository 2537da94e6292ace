"""Cases of ordinary sizes whose tensors are views of huge ones: along a dimension elements lie far apart.

So offsets are beyond what an int32 counts though neither a size nor a stride is. Imports neither torch nor triton.
"""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.subject.dimension import names_in
from tritonaudit.subject.model import Case, Subject
from tritonaudit.subject.size_kind import size_names
from tritonaudit.suites import axes as axes_of_cases
from tritonaudit.suites.large import may_grow

LEAST = 3
"""Elements along the dimension: of two, the stride is as large as the offset, and no int32 any more."""


def far_cases(subject: Subject) -> Iterator[Case]:
    """For each dimension that may grow, the case in which its elements lie so far apart."""
    dtype = subject.dtypes[0]
    if not size_names(subject):
        given = {} if subject.given is None else subject.given.sizes
        yield from (Case({}, dtype, far=name) for name, size in given.items() if size >= LEAST)
        return
    ordinary = {axis.name: int(axis.ordinary) for axis in axes_of_cases.axes_of(subject, ()).sizes}
    had = {one for tensor in subject.tensors for dim in tensor.dims for one in names_in(dim)}
    for name in (one for one in ordinary if may_grow(subject, one) and (one in had or callable(subject.inputs))):
        size = next((size for size in (ordinary[name], *subject.sizes.get(name, ())) if size >= LEAST), LEAST)
        yield Case({**ordinary, name: size}, dtype, far=name)


def other_sizes(subject: Subject, case: Case) -> Iterator[int]:
    """Sizes in place of that of the dimension, which show what of the tensors it is."""
    size = case.sizes[case.far]
    named = sorted((one for one in subject.sizes.get(case.far, ()) if one not in (0, size)), reverse=True)
    yield from named or (size + 1, 2 * size)
