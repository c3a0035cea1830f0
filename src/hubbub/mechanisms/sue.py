"""Symmetric unary encoding: share = (c/n - q) / (p - q); what is sent stands in the encoder of the same name."""

from dataclasses import dataclass
from typing import ClassVar

from hubbub.encoders.sue import Sue as Device
from hubbub.mechanisms.unary import Unary


@dataclass(frozen=True)
class Sue(Unary):
    """Shares of categories: each bit as likely wrong as the others, whether it is 1 or 0."""

    name: ClassVar[str] = Device.name
    source: ClassVar[str] = "Erlingsson, Pihur, Korolova, CCS 2014; Wang, Blocki, Li, Jha, USENIX Security 2017"
    device: ClassVar[type[Device]] = Device
    other: ClassVar[float] = 0.5
