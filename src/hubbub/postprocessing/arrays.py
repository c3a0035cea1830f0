"""What all of them ask of their numbers."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hubbub.errors import ParameterError

Reals = NDArray[np.float64]


def flat(name: str, values: ArrayLike, size: int | None = None) -> Reals:
    """A flat array of finite numbers, at least one, or `size` of them.

    Raises:
        ParameterError: They are not.
    """
    array = finite(name, values)
    if array.ndim != 1 or not array.size or size not in (None, array.size):
        raise ParameterError(f"{name}.shape", array.shape, f"({'k >= 1' if size is None else size},)")
    return array


def finite(name: str, values: ArrayLike) -> Reals:
    """An array of finite numbers.

    Raises:
        ParameterError: They are not.
    """
    array = np.asarray(values)
    if array.dtype.kind not in "iuf":
        raise ParameterError(f"{name}.dtype", str(array.dtype), "numbers")
    if not np.isfinite(array).all():
        raise ParameterError(name, float(array[~np.isfinite(array)][0]), "finite numbers")
    return np.asarray(array, float)


def positive(name: str, values: ArrayLike | None, size: int) -> Reals:
    """So many numbers above 0; ones where there are none.

    Raises:
        ParameterError: They are not.
    """
    if values is None:
        return np.ones(size)
    array = flat(name, values, size)
    if not (array > 0).all():
        raise ParameterError(name, float(array.min()), "numbers > 0")
    return array
