"""Papers about a lock for those who answer for it: the dossier, and the notice for the people at the devices.

Facts alone, taken from the lock and from what the specification proves; what follows from them in law is for others to
say. Markdown; `page` makes a page of it that prints well.
"""

from hubbub.dossier.notice import LANGUAGES, notice
from hubbub.dossier.page import page
from hubbub.dossier.whole import dossier

__all__ = ["LANGUAGES", "dossier", "notice", "page"]
