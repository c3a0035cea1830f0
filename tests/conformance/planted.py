"""How faults are planted: a faulty class, and the check of the suite that must see it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from hubbub.encoders.one_bit_mean import OneBitMean as MeanDevice
from hubbub.encoders.randomized_response import RandomizedResponse as YesNoDevice
from hubbub.mechanisms.one_bit_mean import OneBitMean
from hubbub.mechanisms.randomized_response import RandomizedResponse

Fault = TypeVar("Fault", bound=type)

MUTANTS: list[tuple[str, Any, str]] = []  # check, mechanism with the fault, module in which it was planted


class Mean(OneBitMean):
    """A one-bit mean that runs on `device`."""

    device: Any = MeanDevice

    @classmethod
    def from_epsilon(cls, *args: Any, **kwargs: Any) -> Any:
        built = super().from_epsilon(*args, **kwargs)
        return replace(built, encoder=cls.device(*built.encoder.canonical()))


class YesNo(RandomizedResponse):
    """Randomised response that runs on `device`."""

    device: Any = YesNoDevice

    @classmethod
    def from_epsilon(cls, *args: Any, **kwargs: Any) -> Any:
        built = super().from_epsilon(*args, **kwargs)
        return replace(built, encoder=cls.device(*built.encoder.canonical()))


def seen_by(check: str) -> Callable[[Fault], Fault]:
    """Plant this mechanism, or this device, and say which check must see it."""

    def plant(fault: Fault) -> Fault:
        host = {MeanDevice: Mean, YesNoDevice: YesNo}.get(fault.__mro__[1])
        mutant = type(fault.__name__, (host,), {"device": fault}) if host else fault
        MUTANTS.append((check, mutant, fault.__module__))
        return fault

    return plant
