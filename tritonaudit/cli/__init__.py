"""The command line: one small module per command, loaded when it is called."""

from __future__ import annotations

import gc
import math
import signal
import sys
import time
import traceback
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

import click

from tritonaudit.cli.app import app

_COULD_NOT = 2
_PATIENCE = 1.0  # seconds
INTERRUPTED = 130
"""The exit code after Ctrl-C."""


def main() -> NoReturn:
    """Run the command line of this process and leave with its exit code."""
    interrupt = _Interrupt()
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else it is ignored, as in the background
        with suppress(ValueError, OSError):  # as where this is no main thread
            signal.signal(signal.SIGINT, interrupt)
    code = run(sys.argv[1:])
    if interrupt.was_pressed:
        gc.freeze()  # else Python looks through all that was read as it ends, which takes seconds
        with suppress(ValueError, OSError):
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # Python, as it ends, would have the next one kill it
    sys.exit(code)


class _Interrupt:
    """Ctrl-C, which people press twice: what ends after the first is not disturbed by the next ones."""

    def __init__(self) -> None:
        self._last = -math.inf

    @property
    def was_pressed(self) -> bool:
        return self._last > -math.inf

    def __call__(self, *_: object) -> None:
        now = time.monotonic()
        if now - self._last >= _PATIENCE:
            self._last = now
            raise KeyboardInterrupt


def run(arguments: Sequence[str]) -> int:
    """Run one command line: 0 nothing found, 1 findings, 2 could not, 130 interrupted."""
    try:
        return int(app.main(list(arguments), prog_name="tritonaudit", standalone_mode=False) or 0)
    except click.UsageError as error:
        return _fail(" ".join(error.format_message().split()))
    except click.ClickException as error:
        return _fail(error.format_message())
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except Exception as error:
        from tritonaudit.config import ConfigError

        if isinstance(error, ConfigError):
            return _fail(str(error))
        # Python would leave with 1, which says that there are findings.
        traceback.print_exc()
        return _fail("this is a defect of tritonaudit; please report it with the lines above")


def _fail(message: str) -> int:
    for line in message.splitlines():
        print(f"tritonaudit: {line}", file=sys.stderr)
    return _COULD_NOT
