"""A fault of a joint model: one move too many, or none where one is due."""

from runlock.machines.joint.model import Move

PLANTED = "does what it must not"


def planted(fault, control, moves):
    """The moves of a control with a fault: one more, or none at all where the fault changes nothing."""
    here = all(getattr(control, name) == value for name, value in fault.where.items())
    is_stuck = not (fault.to or fault.one or fault.each)
    if not (here and is_stuck):
        yield from moves
    if here and not is_stuck:
        yield Move(PLANTED, control._replace(**fault.to), "trouble", one=fault.one, each=fault.each)
