"""For which releases of Triton code is written that asks for a name which the installed one does not have."""

from __future__ import annotations

from tritonaudit.api.table import UNLISTED, table


def releases_of(dotted: str) -> str:
    """`Triton 2.0 to 2.3`: the known releases that have a name of Triton's; of a name that none has, nothing."""
    definitions = table().name(dotted).definitions
    having = [release for release in table().releases if definitions.get(release, UNLISTED) is not UNLISTED]
    if not having:
        return ""
    first, last = (".".join(map(str, release)) for release in (having[0], having[-1]))
    return f"Triton {first}" if first == last else f"Triton {first} to {last}"


def written_for(dotted: str) -> str:
    """What to say of code that asks for a name of Triton's which is not there."""
    import triton

    here = f"`{dotted}` is not in Triton {triton.__version__}"
    releases = releases_of(dotted)
    return f"written for {releases}: {here}" if releases else f"written for another Triton: {here}"
