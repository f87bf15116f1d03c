"""The reference asks plugins, and has results applied, only where it is set up so."""

import asyncio
from types import SimpleNamespace

from many_runs import World

from runlock.machines.lifecycle.runtime.choices import policies_of
from runlock.machines.lifecycle.runtime.runtime import Runtime

TOOLS = {"read": {"permission": "allow", "resume_mode": "replay"}}


class Asked(World):
    """A world that notes what it is asked; the model asks for one call."""

    def __init__(self):
        super().__init__("t", None)
        self.asked = []

    async def infer(self, messages, step, request, streams):
        """One call, then the last words."""
        calls = [SimpleNamespace(id="c1", name="read", args={})] if len(messages) == 1 else []
        usage = SimpleNamespace(input=1, output=1)
        return SimpleNamespace(text="", tool_calls=calls, usage=usage, stop=None)

    async def consult(self, at, data, call, step):
        """The plugin leaves everything as it is."""
        self.asked.append(f"plugin at {at}")
        return SimpleNamespace(kind="continue", data=None)

    async def apply(self, calls):
        """The results can be applied."""
        self.asked.append(f"apply {', '.join(calls)}")

    async def commit(self, trigger, cause, force, state):
        """Nothing is kept."""


def asked(hooks=(), applies=False):
    """What the world is asked in a run with one call, besides model and tools."""
    world = Asked()
    runtime = Runtime(world, TOOLS, [], policies_of("awaken-8", {}), hooks)
    runtime.applies = applies
    asyncio.run(runtime.start("hello"))
    return world.asked


def test_nothing_is_asked_that_was_not_set_up():
    """No plugin, and no step that applies results."""
    assert asked() == []


def test_a_plugin_is_asked_at_its_phase_alone():
    """Once for each call, at the one phase that has a plugin."""
    assert asked(hooks=["AfterToolExecute"]) == ["plugin at AfterToolExecute"]


def test_results_are_applied_in_a_step_of_their_own():
    """The one result of the round, once."""
    assert asked(applies=True) == ["apply c1"]
