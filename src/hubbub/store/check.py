"""Whether a store is whole: every summary against a recount of the reports it stands for."""

from hubbub.store.base import Report, Store
from hubbub.store.catalogue import Catalogue


def check(store: Store) -> list[str]:
    """What does not fit, in words; nothing where every summary equals a recount."""
    problems = []
    cells = {(cell.key, cell.segment): cell for cell in store.cells()}
    catalogue = Catalogue(store.locks())
    for key in store.windows():
        where = f"{key.metric} ({key.hash[:8]}…), window {key.window}"
        definition = catalogue.find(key)
        if definition is None:
            problems.append(f"{where}: no lock of the store knows it")
            continue
        segments: dict[str, list[Report]] = {}
        for report in store.reports(key):
            segments.setdefault(report.segment, []).append(report)
        for segment, reports in segments.items():
            cell = cells.pop((key, segment), None)
            if cell is None:
                problems.append(f"{where}, segment {segment!r}: {len(reports)} reports are not counted")
            elif cell.summary != definition.summarise(report.payload for report in reports):
                problems.append(f"{where}, segment {segment!r}: {len(reports)} reports are counted wrongly")
    problems += [f"{key.metric}, window {key.window}, segment {segment!r}: no reports" for key, segment in cells]
    return problems
