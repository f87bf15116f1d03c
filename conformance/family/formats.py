"""The line formats of a family, by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runlock.conformance.errors import UsageError
from runlock.conformance.family.family import family_named

if TYPE_CHECKING:
    from runlock.conformance.trace.line_formats import LineFormats


def formats_of(name: str) -> LineFormats:
    """The line formats of the family with this name; `UsageError` if there is none."""
    try:
        return family_named(name).line_formats
    except LookupError as error:
        raise UsageError(str(error), "A scenario file names its family in the line `family NAME`.") from None
