"""Every chart there is, found by looking: a new file in machines/charts needs no entry anywhere."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

from runlock.machines.chart import Chart
from runlock.machines.lifecycle import charts
from runlock.machines.table import Table, compile_chart


@cache
def every_chart() -> tuple[type[Chart], ...]:
    """Every chart, in the order of the files and, within one, of the page."""
    modules = [
        import_module(f"{charts.__name__}.{one.name}") for one in pkgutil.iter_modules(charts.__path__)
    ]
    return tuple(
        part
        for module in modules
        for part in vars(module).values()
        if isinstance(part, type) and issubclass(part, Chart) and part.__module__ == module.__name__
    )


@cache
def tables() -> tuple[Table, ...]:
    """Every chart as a table."""
    return tuple(compile_chart(chart) for chart in every_chart())
