"""A page read as a browser reads it, which complains of everything that a browser would correct."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = frozenset(("input", "link", "meta"))


@dataclass
class Element:
    """An element with its attributes, its children, and the texts among them."""

    name: str
    attributes: dict[str, str | None] = field(default_factory=dict)
    children: list[Element | str] = field(default_factory=list)

    @property
    def elements(self) -> Iterator[Element]:
        """It and all below it."""
        yield self
        for child in self.children:
            if isinstance(child, Element):
                yield from child.elements

    @property
    def text(self) -> str:
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    def all(self, name: str, **attributes: str) -> list[Element]:
        """Those of that name which have these attributes; of `class_`, that class."""
        return [
            one for one in self.elements if one.name == name and all(one.has(*wanted) for wanted in attributes.items())
        ]

    def has(self, attribute: str, value: str) -> bool:
        if attribute == "class_":
            return value in (self.attributes.get("class") or "").split()
        return self.attributes.get(attribute.replace("_", "-")) == value

    def one(self, name: str, **attributes: str) -> Element:
        (found,) = self.all(name, **attributes)
        return found


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("")
        self._open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"<{tag}> has an attribute twice"
        made = Element(tag, dict(attrs))
        self._open[-1].children.append(made)
        if tag not in VOID:
            self._open.append(made)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open[-1].children.append(Element(tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open[-1].name == tag, f"</{tag}> closes <{self._open[-1].name}>"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        self._open[-1].children.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(f"a declaration: {data}")

    def handle_pi(self, data: str) -> None:
        raise AssertionError(f"an instruction: {data}")

    def end(self) -> Element:
        self.close()
        assert self._open == [self.root], f"<{self._open[-1].name}> is not closed"
        return self.root


def read(text: str) -> Element:
    """The root of a page; fails where an element is not closed, or not where it should be."""
    reader = _Reader()
    reader.feed(text)
    return reader.end()
