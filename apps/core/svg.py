"""Drawings: one SVG that can be shown anywhere, as a file and inside a page, and does nothing.

A drawing is refused, with what to take out, where it holds more than shapes, text and paint: no
script, no event, no style sheet, no link, nothing fetched. What passes is written anew by nh3, an HTML
sanitiser, so that what a browser reads inside a page is what an XML reader sees in the file. Comments
are dropped; the rest is kept, and a sanitised drawing stays as it is.
"""

import re
from dataclasses import dataclass, field
from xml.parsers import expat

import nh3

_SHAPES = {
    "svg", "g", "defs", "title", "desc", "rect", "circle", "ellipse", "line", "polyline", "polygon", "path",
    "text", "tspan", "marker", "linearGradient", "radialGradient", "stop", "clipPath", "pattern",
}  # fmt: skip
_PAINT = {
    "id", "class", "role", "lang", "transform", "opacity", "color", "display", "visibility", "overflow",
    "fill", "fill-opacity", "fill-rule", "stroke", "stroke-width", "stroke-opacity", "stroke-linecap",
    "stroke-linejoin", "stroke-miterlimit", "stroke-dasharray", "stroke-dashoffset", "vector-effect",
    "paint-order", "clip-path", "clip-rule", "marker-start", "marker-mid", "marker-end", "shape-rendering",
    "text-rendering", "font-family", "font-size", "font-style", "font-weight", "font-variant",
    "letter-spacing", "word-spacing", "text-anchor", "text-decoration", "dominant-baseline",
    "alignment-baseline", "baseline-shift", "writing-mode", "stop-color", "stop-opacity",
    "aria-label", "aria-labelledby", "aria-describedby", "aria-hidden",
}  # fmt: skip
_GEOMETRY = {
    "x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "rx", "ry", "fx", "fy", "dx", "dy", "rotate", "d",
    "points", "width", "height", "offset", "pathLength", "textLength", "lengthAdjust", "viewBox",
    "preserveAspectRatio", "gradientUnits", "gradientTransform", "spreadMethod", "markerWidth",
    "markerHeight", "markerUnits", "refX", "refY", "orient", "clipPathUnits", "patternUnits",
    "patternContentUnits", "patternTransform", "xmlns", "version",
}  # fmt: skip
_ATTRIBUTES = _PAINT | _GEOMETRY
_NAMESPACE = "http://www.w3.org/2000/svg"
_OWN_PAINT = re.compile(r"url\(\s*(['\"]?)#[\w.-]+\1\s*\)")
_FETCHES = re.compile(r"url\s*\(|@import|javascript:|data:", re.IGNORECASE)
# What a value may call: of CSS's other functions many fetch (src, image-set, cross-fade), and more will come.
# A backslash or a comment could write any name so that no list knows it.
_HARMLESS = {
    "rgb", "rgba", "hsl", "hsla", "hwb", "lab", "lch", "oklab", "oklch", "color", "calc",
    "matrix", "translate", "scale", "rotate", "skewx", "skewy",
}  # fmt: skip
_CALL = re.compile(r"([\w-]*)\s*\(")
_WORDS = {"id", "class", "role", "lang", "aria-label", "aria-labelledby", "aria-describedby", "aria-hidden"}
_MOST_LEVELS = 100


class UnsafeDrawingError(ValueError):
    """A text that is no SVG that can be shown safely; the message says what to take out."""


def sanitised(text: str) -> str:
    """The drawing as it is stored. Raises UnsafeDrawingError with everything that is wrong with it."""
    reading = _read(text)
    if reading.wrong:
        raise UnsafeDrawingError("; ".join(dict.fromkeys(reading.wrong)))
    cleaned = nh3.clean(
        text.strip(),
        tags=_SHAPES,
        clean_content_tags=set(),
        attributes={"*": _ATTRIBUTES},
        link_rel=None,
        strip_comments=True,
    )
    cleaned = cleaned.replace("&nbsp;", "\N{NO-BREAK SPACE}")  # HTML knows the name, XML does not
    if _read(cleaned).events != reading.events:
        raise UnsafeDrawingError("a page would read this drawing otherwise than a file; simplify its markup")
    return cleaned


@dataclass
class _Reading:
    """What an XML reader sees: elements with their attributes, text, ends; and what must not be there."""

    events: list[tuple[object, ...]] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    level: int = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.level += 1
        if self.level > _MOST_LEVELS:
            self.wrong.append(f"nest at most {_MOST_LEVELS} elements: a page would flatten what is deeper")
        if not self.events:
            self._check_root(name, attributes)
        if name not in _SHAPES:
            self.wrong.append(f"take out <{name}>: a drawing holds shapes and text")
        for attribute, value in attributes.items():
            self._check_attribute(name, attribute, value)
        self.events.append(("start", name, attributes))

    def _check_root(self, name: str, attributes: dict[str, str]) -> None:
        if name != "svg" or attributes.get("xmlns") != _NAMESPACE:
            self.wrong.append(f'a drawing is one <svg xmlns="{_NAMESPACE}">')

    def _check_attribute(self, name: str, attribute: str, value: str) -> None:
        if attribute not in _ATTRIBUTES:
            self.wrong.append(f"take out {attribute}= of <{name}>: only geometry and paint stand there")
        elif attribute == "xmlns" and value != _NAMESPACE:
            self.wrong.append(f'xmlns= is "{_NAMESPACE}"')
        elif _fetches(attribute, _OWN_PAINT.sub("", value)):
            self.wrong.append(f"take out {attribute}= of <{name}>: a drawing fetches nothing")

    def text(self, text: str) -> None:
        if self.events[-1][0] == "text":
            self.events[-1] = ("text", f"{self.events[-1][1]}{text}")
        else:
            self.events.append(("text", text))

    def end(self, name: str) -> None:
        self.level -= 1
        self.events.append(("end", name))

    def refuse(self, what: str) -> None:
        self.wrong.append(f"take out the {what}")


def _fetches(attribute: str, value: str) -> bool:
    if _FETCHES.search(value):
        return True
    if attribute in _WORDS:
        return False
    is_disguised = "\\" in value or "/*" in value
    return is_disguised or any(name.lower() not in _HARMLESS for name in _CALL.findall(value))


def _read(text: str) -> _Reading:
    reading = _Reading()
    parser = expat.ParserCreate()
    parser.StartElementHandler = reading.start
    parser.EndElementHandler = reading.end
    parser.CharacterDataHandler = reading.text
    parser.ProcessingInstructionHandler = lambda *_: reading.refuse("processing instruction <? … ?>")
    parser.StartCdataSectionHandler = lambda: reading.refuse("CDATA section; write &lt; and &amp; instead")
    parser.StartDoctypeDeclHandler = _refuse_doctype
    try:
        parser.Parse(text.strip().encode(), True)
    except expat.ExpatError as error:
        raise UnsafeDrawingError(f"this is no well-formed SVG: {error}") from error
    return reading


def _refuse_doctype(*_: object) -> None:
    """At once, before an entity of it could be read."""
    raise UnsafeDrawingError("take out the <!DOCTYPE …>")
