"""Definitions of metrics: reading and checking metrics.toml, what it will be worth, and building metrics.lock."""

from hubbub.definitions.advice import Review, review
from hubbub.definitions.building import build, read, refusals, save
from hubbub.definitions.comparing import Change, compare
from hubbub.definitions.document import Registry
from hubbub.definitions.facts import COMES_TO, facts
from hubbub.definitions.keys import schema
from hubbub.definitions.models import Definition
from hubbub.definitions.problems import DefinitionErrors, Problem
from hubbub.definitions.reading import load, loads, read_lock
from hubbub.definitions.renewing import Renewal, renew
from hubbub.definitions.starter import template
from hubbub.definitions.wording import worth_lines

__all__ = [
    "COMES_TO",
    "Change",
    "Definition",
    "DefinitionErrors",
    "Problem",
    "Registry",
    "Renewal",
    "Review",
    "build",
    "compare",
    "facts",
    "load",
    "loads",
    "read",
    "read_lock",
    "refusals",
    "renew",
    "review",
    "save",
    "schema",
    "template",
    "worth_lines",
]
