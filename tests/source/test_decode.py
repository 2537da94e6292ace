"""Bytes become the text that Python would read, or an error that says where they are wrong."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tritonaudit.source.decode import Undecodable, decode


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        ("x = 'ä'".encode(), "x = 'ä'"),
        (codecs.BOM_UTF8 + b"x = 1\n", "x = 1\n"),
        (codecs.BOM_UTF8 + b"# coding: utf-8\nx = 1\n", "# coding: utf-8\nx = 1\n"),
        (b"# -*- coding: latin-1 -*-\nx = '\xe4'\n", "# -*- coding: latin-1 -*-\nx = 'ä'\n"),
        (b"#!/bin/x\n# vim: set fileencoding=cp1251 :\n# \xff\n", "#!/bin/x\n# vim: set fileencoding=cp1251 :\n# я\n"),
        (b"# coding: latin-1\r# \xe4\r", "# coding: latin-1\n# ä\n"),
        (b"a\r\nb\rc\nd\r\r\n", "a\nb\nc\nd\n\n"),
        ("# coding: shift_jis\nx = '表'\n".encode("shift_jis"), "# coding: shift_jis\nx = '表'\n"),
    ],
)
def test_cookie_and_byte_order_mark_decide_and_newlines_become_one(data, text):
    assert decode(data) == text


def test_a_cookie_below_the_second_line_is_none():
    with pytest.raises(Undecodable):
        decode(b"\n\n# coding: latin-1\n# \xe4\n")


@pytest.mark.parametrize(
    ("data", "line", "words"),
    [
        (b"x = '\xe4'\n", 1, "the byte 0xe4 is not UTF-8; save the file as UTF-8 or give it a coding cookie"),
        (b"a\r\nb\rc\nx = '\xff'", 4, "0xff is not UTF-8"),
        (codecs.BOM_UTF8 + b"\n\n\xff", 3, "0xff is not UTF-8"),
        (b"# coding: ascii\n\nx = '\xe4'\n", 3, "0xe4 is not ASCII; correct the coding cookie or the file"),
        (b"# coding: uft-8\n", 1, "the coding cookie names an unknown encoding uft-8"),
        (b"#!/bin/x\n# coding: klingon\n", 2, "the coding cookie names an unknown encoding klingon"),
        (b"# coding: hex\n", 1, "'hex' does not decode text"),
        (codecs.BOM_UTF8 + b"# coding: latin-1\n", 1, "byte order mark but its coding cookie says otherwise"),
        (b"x = 1\ny = '\0'\n", 2, "null byte"),
        ("x = 1\n".encode("utf-16"), 1, "UTF-16"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(data, line, words):
    with pytest.raises(Undecodable) as caught:
        decode(data)
    assert words in caught.value.message
    assert caught.value.line == line


@given(st.binary(max_size=80))
def test_any_bytes_are_text_or_undecodable(data):
    try:
        text = decode(data)
    except Undecodable:
        return
    assert "\0" not in text
    assert "\r" not in text


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\0")))
def test_utf8_comes_back_as_it_was(text):
    # Behind a blank line and a statement nothing in the text can be a cookie.
    assert decode(f"\npass\n{text}".encode()) == f"\npass\n{text}"
