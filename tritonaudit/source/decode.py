"""Bytes to text, the way Python itself reads a source file."""

from __future__ import annotations

import codecs
import io
import tokenize


class Undecodable(Exception):
    """The bytes are not Python source; `line` is where, if one line is to blame."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


def decode(data: bytes) -> str:
    """The text of a source file: its coding cookie and byte order mark honoured, every newline a `\\n`."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise Undecodable("the file is UTF-16, which Python does not read as source; save it as UTF-8", 1)
    # Python's tokenizer sees lines before characters, and so do we: a lone \r must end the line of a cookie.
    data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if b"\0" in data:
        raise Undecodable("the file holds a null byte, so it is not Python source", _line(data, data.index(b"\0")))
    encoding = _encoding(data)
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        # The codec's offsets count in what it was given, which is not `data` where a byte order mark was cut off.
        where = _line(error.object, error.start)
        bad = error.object[error.start]
        raise Undecodable(f"the byte 0x{bad:02x} is not {_shown(encoding)}; {_advice(encoding)}", where) from error
    except (LookupError, ValueError) as error:
        raise Undecodable(f"the coding cookie's encoding {encoding!r} does not decode text: {error}", 1) from error


def encoding_of(data: bytes) -> str:
    """The encoding that a source file's mark or cookie names, UTF-8 where there is neither. Raises Undecodable."""
    return _encoding(data.replace(b"\r\n", b"\n").replace(b"\r", b"\n"))


def _encoding(data: bytes) -> str:
    try:
        return tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    except SyntaxError as error:
        message = str(error)
    if message.startswith("unknown encoding"):
        line = next(number for number, text in enumerate(data.split(b"\n"), 1) if b"coding" in text)
        raise Undecodable(f"the coding cookie names an {message.replace(': ', ' ', 1)}", line)
    if message.startswith("encoding problem"):
        raise Undecodable("the file starts with a UTF-8 byte order mark but its coding cookie says otherwise", 1)
    # What is left is a first or second line that is not UTF-8; decoding it says which.
    return "utf-8"


def _advice(encoding: str) -> str:
    if encoding.startswith("utf-8"):
        return "save the file as UTF-8 or give it a coding cookie"
    return "correct the coding cookie or the file"


def _shown(encoding: str) -> str:
    return encoding.upper().removesuffix("-SIG")


def _line(data: bytes, offset: int) -> int:
    return data.count(b"\n", 0, offset) + 1
