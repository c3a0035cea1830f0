"""Simulation: a mechanism's error over many crowds, measured and predicted; nothing here is a device."""

from hubbub.simulation.crowds import DISTRIBUTIONS, cells, labels, named, shares
from hubbub.simulation.run import Measured, measure

__all__ = ["DISTRIBUTIONS", "Measured", "cells", "labels", "measure", "named", "shares"]
