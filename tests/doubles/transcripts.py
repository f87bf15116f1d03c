"""Charts as arrows, and the tables of arrows that were transcribed from their sources by hand."""

from places import TRANSCRIBED

from runlock.machines.chart import Chart
from runlock.machines.table import compile_chart


def transcribed(name: str) -> list[list[str]]:
    """The arrows of a source: its line, the state, the event and the next state; `*` is the outside."""
    lines = (TRANSCRIBED / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return [line.split()[:4] for line in lines if not line.startswith("#")]


def arrows(chart: type[Chart]) -> set[tuple[str, str, str]]:
    """The arrows of a chart: the state, the event and the next state."""
    return {(row.source, row.event, row.target) for row in compile_chart(chart).rows}
