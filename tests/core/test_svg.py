"""Drawings that do nothing: what is kept, and what is refused with what to take out."""

import pytest

from apps.core.svg import UnsafeDrawingError, sanitised

OPEN = '<svg xmlns="http://www.w3.org/2000/svg">'


def rect(attributes: str) -> str:
    return f"{OPEN}<rect {attributes}></rect></svg>"


@pytest.mark.parametrize(
    "attributes",
    [
        'fill="url(#paint)"',
        'fill="rgb(1, 2, 3)" stroke="hsl(120deg 50% 50%)"',
        'transform="translate(1 2) rotate(45) skewX(3) matrix(1 0 0 1 0 0)"',
        'aria-label="Key (public)" id="a" class="b c"',
    ],
)
def test_paint_and_geometry_are_kept(attributes: str) -> None:
    drawing = rect(attributes)
    assert sanitised(drawing) == sanitised(sanitised(drawing)) == drawing


@pytest.mark.parametrize(
    "value",
    [
        "url(http://elsewhere/x)",
        "URL (x)",
        "u\\72l(http://elsewhere/x)",
        "\\75 rl(http://elsewhere/x)",
        "url/**/(http://elsewhere/x)",
        "src('http://elsewhere')",
        "image('http://elsewhere')",
        "image-set('http://elsewhere' 1x)",
        "-webkit-image-set('http://elsewhere' 1x)",
        "cross-fade(x, y)",
        "var(--x)",
        "url(#own) url(//elsewhere)",
    ],
)
@pytest.mark.parametrize("attribute", ["fill", "stroke", "clip-path", "marker-start"])
def test_nothing_is_fetched_however_it_is_written(attribute: str, value: str) -> None:
    with pytest.raises(UnsafeDrawingError, match=f"take out {attribute}="):
        sanitised(rect(f'{attribute}="{value}"'))


def test_a_drawing_is_not_deeper_than_a_page_can_hold() -> None:
    sanitised(f"{OPEN}{'<g>' * 99}{'</g>' * 99}</svg>")
    with pytest.raises(UnsafeDrawingError, match="at most 100"):
        sanitised(f"{OPEN}{'<g>' * 100}{'</g>' * 100}</svg>")
    sanitised(f"{OPEN}{'<g></g>' * 1000}</svg>")
