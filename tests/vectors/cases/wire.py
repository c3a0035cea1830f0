"""Payloads as they travel (spec/wire.md)."""

from tests.vectors.cases import Case, cases_of


def cases() -> list[Case]:
    return [*cases_of("pack", _PACKED), *cases_of("unpack", _UNPACKED)]


_PACKED = [
    ({"payload": [1], "radices": [2]}, "one bit at the wrong end of its byte"),
    ({"payload": [0], "radices": [2]}, "nothing sent for zeros"),
    ({"payload": [1, 0, 2], "radices": [2, 2, 3]}, "the example of the page: fields in reverse order"),
    ({"payload": [3], "radices": [4]}, "a radix of 4 given three bits"),
    ({"payload": [4], "radices": [5]}, "a radix of 5 given two bits"),
    ({"payload": [0, 1], "radices": [1, 2]}, "a radix of 1 given a bit"),
    ({"payload": [0], "radices": [1]}, "no bits, no bytes"),
    ({"payload": [1, 0, 0, 0, 0, 0, 0, 0], "radices": [2] * 8}, "eight bits with a byte of padding behind them"),
    ({"payload": [1, 0, 0, 0, 0, 0, 0, 0, 1], "radices": [2] * 9}, "nine bits in one byte"),
    ({"payload": [4294967295, 5], "radices": [4294967296, 7]}, "fields of 32 bits, across bytes: signed shifts"),
    ({"payload": [683], "radices": [1000]}, "bytes in little-endian order"),
    ({"payload": [2], "radices": [2]}, "a field beyond its radix runs into its neighbour"),
    ({"payload": [5], "radices": [5]}, "a field that fits its bits and not its radix"),
    ({"payload": [-1], "radices": [2]}, "a negative field"),
    ({"payload": [1, 1], "radices": [2]}, "a field too many"),
    ({"payload": [], "radices": [2]}, "a field too few"),
]
_UNPACKED = [
    ({"hex": "80", "radices": [2]}, "a yes"),
    ({"hex": "00", "radices": [2]}, "a no"),
    ({"hex": "a0", "radices": [2, 2, 3]}, "the example of the page"),
    ({"hex": "", "radices": [1]}, "no bits"),
    ({"hex": "8080", "radices": [2] * 9}, "nine bits"),
    ({"hex": "ffffffffa0", "radices": [4294967296, 7]}, "fields of 32 bits"),
    ({"hex": "", "radices": [2]}, "too short"),
    ({"hex": "8", "radices": [2]}, "half a byte"),
    ({"hex": "8000", "radices": [2]}, "too long"),
    ({"hex": "81", "radices": [2]}, "padding that carries a bit"),
    ({"hex": "c0", "radices": [2]}, "padding next to the field"),
    ({"hex": "A0", "radices": [2, 2, 3]}, "upper case: two texts for one payload"),
    ({"hex": "b0", "radices": [2, 2, 3]}, "a field that fits its bits and not its radix"),
    ({"hex": "0x", "radices": [2]}, "a prefix"),
    ({"hex": " 8", "radices": [2]}, "a blank"),
    ({"hex": "+8", "radices": [2]}, "a sign, which readers of integers accept"),
    ({"hex": "8_", "radices": [2]}, "an underscore, which readers of integers accept"),
    ({"hex": "8\n", "radices": [2]}, "a line's end"),
    ({"hex": "٨0", "radices": [2]}, "digits of another script"),
    ({"hex": "00", "radices": [1]}, "a byte where there are no bits"),
]
