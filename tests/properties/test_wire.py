"""Every payload has one text and every text at most one payload."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hubbub.errors import PayloadError
from hubbub.wire import pack, unpack

radices = st.lists(st.sampled_from((1, 2, 3, 4, 5, 17, 256, 257, 4096, 2**32 - 1, 2**32)), max_size=12).map(tuple)


@st.composite
def payloads(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, ...]]:
    shape = draw(radices | st.just((3, 256, 2)))
    return tuple(draw(st.integers(0, radix - 1)) for radix in shape), shape


def unpacked(text: Any, shape: tuple[int, ...]) -> tuple[int, ...] | None:
    try:
        return unpack(text, shape)
    except PayloadError:
        return None


@given(payloads())
def test_payloads_come_back(sample: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    payload, shape = sample
    text = pack(payload, shape)
    assert unpack(text, shape) == payload
    assert len(text) == (sum((radix - 1).bit_length() for radix in shape) + 7) // 8 * 2
    assert text == text.lower()


@given(payloads(), st.data())
def test_a_changed_digit_gives_another_payload_or_none(sample: Any, data: st.DataObject) -> None:
    payload, shape = sample
    text = pack(payload, shape)
    if text:
        at = data.draw(st.integers(0, len(text) - 1))
        changed = text[:at] + data.draw(st.sampled_from("0123456789abcdefABCDEFgx_+- \n٠")) + text[at + 1 :]
        assert changed == text or unpacked(changed, shape) != payload


@given(radices, st.text("0123456789abcdef", max_size=12))
def test_what_is_read_is_written_the_same(shape: tuple[int, ...], text: str) -> None:
    payload = unpacked(text, shape)
    assert payload is None or pack(payload, shape) == text


@given(radices, st.text(max_size=12))
def test_any_text_is_read_or_refused(shape: tuple[int, ...], text: str) -> None:
    payload = unpacked(text, shape)
    assert payload is None or pack(payload, shape) == text
