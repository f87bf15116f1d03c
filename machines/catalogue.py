"""Finds every chart of a family: a new file in its `charts` folder needs no registration."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

from runlock.machines.chart import Chart
from runlock.machines.table import Table, compile_chart


@cache
def every_chart(family: str) -> tuple[type[Chart], ...]:
    """Every chart of a family, in the order of the files and, within one, of the page.

    One family at a time: clause ids are unique only within a family.
    """
    charts = import_module(f"{__package__}.{family.replace('-', '_')}.charts")
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
def tables(family: str) -> tuple[Table, ...]:
    """Every chart of a family as a table."""
    return tuple(compile_chart(chart) for chart in every_chart(family))
