"""Payloads as hex: exactly one text for each."""

import pytest

from hubbub.errors import PayloadError
from hubbub.wire import pack, unpack


@pytest.mark.parametrize(
    ("payload", "radices", "text"),
    [
        ((0,), (2,), "00"),
        ((1,), (2,), "80"),
        ((1, 0, 1), (2, 2, 2), "a0"),
        ((2, 255, 1), (3, 256, 2), "bfe0"),  # 10 11111111 1, then five zeros
        ((0, 0, 0), (3, 256, 2), "0000"),
        ((5,), (6,), "a0"),
        ((255,), (256,), "ff"),
        ((256,), (257,), "8000"),
        ((1,) * 8, (2,) * 8, "ff"),
        ((1,) * 9, (2,) * 9, "ff80"),
        ((0,) * 128, (2,) * 128, "00" * 16),
        ((0,), (1,), ""),
        ((0, 1), (1, 2), "80"),
        ((), (), ""),
        ((2**32 - 1, 1), (2**32, 2), "ffffffff80"),
    ],
)
def test_fields_go_out_most_significant_bit_first(
    payload: tuple[int, ...], radices: tuple[int, ...], text: str
) -> None:
    assert pack(payload, radices) == text
    assert unpack(text, radices) == payload


@pytest.mark.parametrize(
    ("payload", "radices"),
    [
        ((2,), (2,)),
        ((-1,), (2,)),
        ((3, 0, 0), (3, 256, 2)),
        ((0, 256, 0), (3, 256, 2)),
        ((0, 0), (2,)),
        ((), (2,)),
        ((1,), (1,)),
    ],
)
def test_what_does_not_fit_is_not_sent(payload: tuple[int, ...], radices: tuple[int, ...]) -> None:
    with pytest.raises(PayloadError, match="payload does not fit its radices"):
        pack(payload, radices)


@pytest.mark.parametrize(
    ("text", "radices"),
    [
        ("", (2,)),
        ("8", (2,)),
        ("800", (2,)),
        ("8000", (2,)),
        ("0x", (2,)),
        ("8_", (2,)),
        (" 8", (2,)),
        ("+8", (2,)),
        ("8\n", (2,)),
        ("\u0668\u0660", (2,)),  # Arabic-Indic digits
        ("８０", (2,)),
        ("81", (2,)),
        ("c0", (2,)),
        ("FF", (256,)),
        ("fF", (256,)),
        ("gg", (256,)),
        ("c000", (3, 256, 2)),  # first field 3
        ("0010", (3, 256, 2)),  # padding
        ("bfe", (3, 256, 2)),
        ("bfe000", (3, 256, 2)),
        ("00", (1,)),
        ("00", ()),
        ("e0", (6,)),  # field 7
    ],
)
def test_any_other_text_is_refused(text: str, radices: tuple[int, ...]) -> None:
    with pytest.raises(PayloadError):
        unpack(text, radices)


def test_the_message_says_what_was_expected_and_not_what_came() -> None:
    with pytest.raises(PayloadError, match="4 lower-case hex digits") as caught:
        unpack("471147", (2,) * 9)
    assert "4711" not in str(caught.value)
