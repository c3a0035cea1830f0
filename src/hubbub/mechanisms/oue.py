"""Optimised unary encoding: share = (c/n - q) / (p - q); what is sent stands in the encoder of the same name."""

from dataclasses import dataclass
from typing import ClassVar

from hubbub.encoders.oue import Oue as Device
from hubbub.mechanisms.unary import Unary


@dataclass(frozen=True)
class Oue(Unary):
    """Shares of many categories: the unary encoding of least variance for rare ones."""

    name: ClassVar[str] = Device.name
    source: ClassVar[str] = "Wang, Blocki, Li, Jha, USENIX Security 2017"
    device: ClassVar[type[Device]] = Device
    other: ClassVar[float] = 1.0
