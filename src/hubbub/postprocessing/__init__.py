"""Tidying of estimates: named steps that anybody may take afterwards, and that are never taken by themselves.

Estimates are unbiased, so some of them are negative and they need not add up. Each function here makes numbers that
look right from numbers that are right on average, and says in its own words what it biases. Means over windows,
differences and intervals belong to the raw estimates, never to tidied ones. The two exceptions keep what is unbiased
unbiased: `consistent`, which is linear, and the ends of `quantiles`. Needs numpy alone.
"""

from hubbub.postprocessing.hierarchy import consistent
from hubbub.postprocessing.mixture import em, ems
from hubbub.postprocessing.order import isotonic
from hubbub.postprocessing.quantiles import Quantiles, quantiles
from hubbub.postprocessing.shares import clip, norm_sub, simplex

__all__ = ["Quantiles", "clip", "consistent", "em", "ems", "isotonic", "norm_sub", "quantiles", "simplex"]
