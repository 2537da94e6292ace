"""What an exception says, in one sentence, and where in the user's code it comes from, in whatever process that ran."""

from __future__ import annotations

import linecache
import os
import re
import sys
import sysconfig
import traceback
from dataclasses import dataclass

import tritonaudit

_OURS = os.path.join(os.path.dirname(os.path.abspath(tritonaudit.__file__)), "")
_INSTALLED = tuple(os.path.join(sysconfig.get_path(name), "") for name in ("stdlib", "purelib", "platlib"))
_HALF = 250  # characters of either end of a text that is longer than both

_DEPENDS = "tritonaudit.absent.stand_in.DependsOnStandIn"


@dataclass(frozen=True)
class Account:
    """What is reported of an exception that another process raised.

    `frames` are file and line of each, outermost first; `place` is where a text that is no Python is wrong. An
    `is_ordinary` one is no exit, nor what ends a program.
    """

    kind: str
    text: str
    frames: tuple[tuple[str, int], ...]
    place: tuple[str, int | None] | None = None
    is_ordinary: bool = True


class Recounted(Exception):
    """Stands for an exception of another process."""

    def __init__(self, account: Account) -> None:
        super().__init__(account.text)
        self.account = account


def account_of(error: BaseException) -> Account:
    """What to tell another process of an exception."""
    if isinstance(error, Recounted):
        return error.account
    walked = traceback.walk_tb(error.__traceback__)
    # What a signal's handler raises may stand at an instruction that belongs to no line.
    frames = tuple((frame.f_code.co_filename, line or frame.f_code.co_firstlineno) for frame, line in walked)
    place = (error.filename, error.lineno) if isinstance(error, SyntaxError) and error.filename else None
    return Account(_type_name(error), text_of(error), frames, place, isinstance(error, Exception))


def account_in(error: BaseException) -> Account:
    """The account that an exception brings along, or its own."""
    found = getattr(error, "account", None)
    return found if isinstance(found, Account) else account_of(error)


def described(error: BaseException) -> str:
    """`raised ValueError: no such shape (softmax.py:12)`: the type, its text, and the line of the user's code."""
    account = account_in(error)
    if account.kind == _DEPENDS:
        users = _users_place(account)
        return f"{account.text.removeprefix('it ')}{f' ({users[0]}:{users[1]})' if users else ''}"
    place = _place(account)
    text = f": {account.text}" if account.text else ""
    return f"raised {account.kind}{text}{f' ({place})' if place else ''}"


def users_place(error: BaseException) -> tuple[str, int | None] | None:
    """File and line of the innermost frame that is the user's: neither ours nor of what is installed.

    Of a file that is no Python, the place in that file.
    """
    return _users_place(account_in(error))


def _users_place(account: Account) -> tuple[str, int | None] | None:
    if account.place is not None:
        return account.place
    installed = _installed()
    written = [place for place in _frames(account) if not place[0].startswith(installed)]
    return written[-1] if written else None


def called_into(error: BaseException, *files: str) -> bool:
    """Whether the innermost frame of the user's had called into one of these files of ours, by their paths in it."""
    account = account_in(error)
    place = _users_place(account)
    seen = False
    for name, line in account.frames:
        seen = (seen and (name, line) != place) or (name.startswith(_OURS) and name[len(_OURS) :] in files)
    return seen


def is_called_from(error: BaseException, file: str) -> bool:
    """Whether a frame of a file of ours, by its path in it, was under way."""
    return any(name == _OURS + file for name, _ in account_in(error).frames)


def is_in(error: BaseException, folder: str) -> bool:
    """Whether code of a folder, given by a part of its path, was being executed, or what that had called."""
    return any(folder in path for path, _ in _frames(account_in(error)))


def depends_on_stand_in(error: BaseException) -> bool:
    """Whether it depends on what is absent, and is stood in for, what would come of it."""
    return account_in(error).kind == _DEPENDS


def is_refusal(error: BaseException) -> bool:
    """Whether the user's own `raise` or `assert` says it, and nothing that their code called; an exit is no refusal."""
    account = account_in(error)
    frames, place = _frames(account), _users_place(account)
    if place is None or not frames or frames[-1] != place or place[1] is None or not account.is_ordinary:
        return False
    if os.path.exists(place[0]) and not os.path.isfile(place[0]):  # whoever is judged may have named what never ends
        return False
    return linecache.getline(place[0], place[1]).lstrip().startswith(("raise ", "assert ", "assert("))


def exit_described(error: SystemExit) -> str:
    """The code with which `sys.exit` leaves, and its text where it was given one."""
    if error.code is None or isinstance(error.code, int):
        return f"exited with code {(error.code or 0) & 0xFF}"
    return f"exited with code 1: {text_of(error)}"


def _type_name(error: BaseException) -> str:
    kind = type(error)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def text_of(error: BaseException) -> str:
    """An exception's text on one line, in part where it is long."""
    try:
        text = " ".join(str(error.msg if isinstance(error, SyntaxError) else error).split())
    except BaseException as failure:  # the text is the user's code
        return f"its text raises {type(failure).__name__}"
    return text if len(text) <= 2 * _HALF else f"{text[:_HALF]} … {text[-_HALF:]}"


def _place(account: Account) -> str:
    """`FILE:LINE` of the user's place; where there is none, of what was called last that is not ours."""
    frames = _frames(account)
    place = _users_place(account) or (frames[-1] if frames else None)
    return ":".join(map(str, place)) if place else ""


def is_users(path: str) -> bool:
    """Whether a file of Python code is the user's: neither ours nor of what is installed."""
    return not path.startswith(("<", _OURS, *_installed()))


def _frames(account: Account) -> list[tuple[str, int]]:
    """File and line of each frame that is not ours."""
    return [place for place in account.frames if not place[0].startswith(("<", _OURS))]


def _installed() -> tuple[str, ...]:
    """The folders of what is installed, and of torch and triton wherever they are."""
    files = (getattr(sys.modules.get(name), "__file__", None) for name in ("torch", "triton"))
    return (*_INSTALLED, *(os.path.join(os.path.dirname(os.path.abspath(file)), "") for file in files if file))


# -- what the log of a process says that died ------------------------------------------------------------------------

_FRAME = re.compile(r'^ {2}File "(.+)", line (\d+) in ', re.MULTILINE)
_WARNING = re.compile(r"^.+:\d+: \w*Warning: .*\n(?:  .*(?:\n|$))?", re.MULTILINE)
_TRACED = re.compile(r"^(?:Fatal Python error: |Timeout \(\d)", re.MULTILINE)


def traced_place(log: str) -> tuple[str, int] | None:
    """File and line of the user's frame that `faulthandler` wrote last, the innermost of them."""
    traces = [trace.start() for trace in _TRACED.finditer(log)]
    installed = _installed()
    for path, line in _FRAME.findall(log[traces[-1] :] if traces else ""):
        if not path.startswith(("<", _OURS, *installed)):
            return path, int(line)
    return None


def last_words(log: str) -> str:
    """The last line that a process wrote itself and that is no warning of Python's, empty for none."""
    traced = _TRACED.search(log)
    own = _WARNING.sub("", log[: traced.start()] if traced else log)
    return next((line.strip() for line in reversed(own.splitlines()) if line.strip()), "")
