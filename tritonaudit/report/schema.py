"""Whether data is as one of the schemas beside this module says."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent
_LONGEST = 200
"""Characters of what is said, which may repeat the data."""


def breach(data: Any, file: str) -> str | None:
    """What in data, as json.loads gives it, the schema of that file forbids, and where; None if nothing.

    `subjects[0].path: 5 is not of type 'string'`.
    """
    from jsonschema.exceptions import best_match

    error = best_match(_validator(file).iter_errors(data))
    if error is None:
        return None
    at = error.json_path.removeprefix("$").removeprefix(".")
    said = error.message if len(error.message) <= _LONGEST else f"{error.message[:_LONGEST]} …"
    return f"{at or 'the whole'}: {said}"


@cache
def _validator(file: str) -> Any:
    from jsonschema import Draft202012Validator
    from referencing import Registry, Resource

    schemas = {path.name: json.loads(path.read_text("utf-8")) for path in _FOLDER.glob("*.schema.json")}
    resources = ((name, Resource.from_contents(schema)) for name, schema in schemas.items())
    registry: Registry[Any] = Registry().with_resources(resources)
    return Draft202012Validator(schemas[file], registry=registry)
