"""Does the host code make a launch in which a parameter is such a number?"""

from __future__ import annotations

from collections.abc import Callable

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.host.host import Host, LaunchSite
from tritonaudit.queries.answer import Refuted, Unknown
from tritonaudit.queries.sizes import inputs_of

_TRIED = (3, 24, 48, 96, 100, 5, 192, 1000)


def admits(
    flow: KernelFlow, parameter: str, is_such: Callable[[int], bool], passed: str = ""
) -> Refuted[int] | Unknown:
    """A launch that refutes that it never is; where it is never seen to be, whether launches were made at all.

    Where some launches pass what is `passed`, it is asked of these.
    """
    held = False
    alike = [site for site in flow.launches.sites if str(site.argument(parameter)) == passed]
    for site in alike or flow.launches.sites:
        found = _of_site(flow.launches.host, site, parameter, is_such)
        if isinstance(found, Refuted):
            return found
        held = held or found.held
    return Unknown("no launch that was tried has such a number", held)


def _of_site(host: Host, site: LaunchSite, parameter: str, is_such: Callable[[int], bool]) -> Refuted[int] | Unknown:
    value = site.argument(parameter)
    atoms = set() if value is None else inputs_of([value])
    if not atoms or site.doubt or not site.is_whole:
        return Unknown(site.doubt or "what the launch passes is not known")
    refused = False
    for size in _TRIED:
        sizes = {atom.name: size for atom in atoms}
        launched = host.replay(site, sizes)
        if not isinstance(launched, LaunchSite):
            refused = True
            continue
        passed = launched.argument(parameter)
        if passed is not None and passed.value is not None and is_such(passed.value):
            return Refuted(sizes, passed.value)
    return Unknown("no launch that was tried has such a number", refused)
