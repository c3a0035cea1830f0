"""Mechanisms for simulation and comparison, NOT FOR DEVICES: nothing here may be used to collect anybody's data.

They draw real numbers in floating point. What a device sends must come from integers that its words are compared with:
the low bits of a floating-point draw can tell the value apart from others, whatever epsilon says on paper. So none of
these is in a registry, has an encoder, or can stand in a definition; their losses hold for real arithmetic alone.
"""

from hubbub.mechanisms.research.priv_unit import PrivUnit
from hubbub.mechanisms.research.priv_unit_g import PrivUnitG

__all__ = ["PrivUnit", "PrivUnitG"]
