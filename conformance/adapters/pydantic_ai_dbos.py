"""pydantic-ai on DBOS behind the hosted interface, offline: each segment is a workflow in a SQLite database.

Its capability makes a step of each question to the model; the tools, and what the hook asks, are steps as
its documentation advises.  A crash leaves the database: DBOS, launched again, recovers the workflow that had
not ended.

Undeclared: a cancel of a run that waits, since none of its workflows is under way then; decisions that are
live or have ids, since a decision begins a workflow; streams, since a recorded step does not stream again;
`store.put` gates, since DBOS takes no store but a database; steps of a few turns, since it works in threads,
for which no turn of the loop waits.
"""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import pydantic_ai as ai
from dbos import DBOS, SetWorkflowID, error
from pydantic_ai.capabilities import Hooks
from pydantic_ai.durable_exec.dbos import DBOSDurability
from pydantic_ai.messages import repair_messages

from runlock.conformance.adapter import (
    Control,
    Host,
    InputSupport,
    Party,
    Refused,
    Scenario,
    Segment,
    ToolSpec,
)
from runlock.conformance.adapters.libraries import Thread
from runlock.conformance.adapters.models.pydantic_ai import kit_model
from runlock.conformance.adapters.pydantic_ai import PydanticAI

LIBRARY: Final = PydanticAI.handshake
CONTROL: Final = Control(settle="exact", crash=["soft", "kill"], store="own", clock="virtual", step="none")
CANCELLED: Final = (error.DBOSWorkflowCancelledError, error.DBOSAwaitedWorkflowCancelledError)
LISTENS: Final = "notification_listener_polling_interval_sec"  # DBOS ends no sooner than after one of these


class OnDBOS(PydanticAI):
    """One thread of an agent, in a database of its own."""

    handshake = LIBRARY.model_copy(
        update={
            "implementation": Party(
                name="pydantic-ai on DBOS", version=LIBRARY.implementation.version, language="python"
            ),
            "control": CONTROL,
            "inputs": InputSupport(working=False),
        }
    )
    checkpoint: Any = None  # what survives a crash is in the database

    async def open(self, host: Host, scenario: Scenario) -> None:
        async def permit(*given: Any) -> Any:
            return await host.permit(*given)

        await Thread.open(self, host, scenario)
        DBOS.destroy(destroy_registry=True)  # there is one in a process, and it served the life before
        url = f"sqlite:///{scenario.data}/dbos.sqlite"
        DBOS(config={"name": "kit", "system_database_url": url, "log_level": "CRITICAL", LISTENS: 0.01})
        self.history, self.outside = [], []
        self.workflows: list[Any] | None = None  # of the database, in their order, once DBOS is launched
        self.begun = asyncio.Event()
        self.external = [spec.name for spec in scenario.tools if spec.resume_mode == "use_as_result"]
        self.gated = [spec.name for spec in scenario.tools if spec.permission == "gate"]
        self.permit = DBOS.step(name="permit")(permit)
        self.agent = ai.Agent(
            kit_model(host, lambda _: None),
            name="agent",
            tools=[self._tool(spec) for spec in scenario.tools],
            output_type=[str, ai.DeferredToolRequests],
            capabilities=[DBOSDurability(), Hooks(before_tool_execute=self._permit)],
        )
        self.segment = self._workflow()

    async def start(self, text: str) -> Segment:
        return await self._run(text=text)

    input = start

    async def cancel(self) -> None:
        await DBOS.cancel_workflow_async(self.workflow)

    async def restore(self, host: Host, scenario: Scenario, checkpoint: Any) -> None:
        """DBOS begins by itself what had not ended: when this returns, that is on its way to the loop."""
        await self.open(host, scenario)
        is_called = _calls_from_threads(asyncio.get_running_loop())
        self._launch()
        self.last: Any = self.workflows[-1] if self.workflows else None
        if self.last is None or not self.last.workflow_id.endswith(f" {host.run}"):
            raise Refused("nothing was durable")
        self.workflow = self.last.workflow_id
        if self.last.status in ("PENDING", "ENQUEUED"):
            is_called.wait()

    async def resume_run(self, run: str) -> Segment:
        if self.last.status == "SUCCESS":
            return self._left(*self.last.output)
        if self.last.status == "CANCELLED":
            return Segment("Cancelled")
        await self.begun.wait()
        return await self._ended(self.task)

    def _workflow(self) -> Any:
        async def segment(history: Any, text: str | None, results: Any) -> Any:
            self.task = asyncio.current_task()
            self.begun.set()
            with ai.capture_run_messages() as messages:
                try:
                    done = await self.agent.run(text, message_history=history, deferred_tool_results=results)
                except ai.UserError:
                    raise
                except Exception as failed:  # its documentation goes on from what was captured
                    return [*messages], failed
            return done.all_messages(), done.output

        return DBOS.workflow(name="segment")(segment)

    def _launch(self) -> None:
        """Launch DBOS, and read from its database how far the thread is."""
        if self.workflows is not None:
            return
        DBOS.launch()
        with ThreadPoolExecutor(1) as pool:  # nothing else happens before they are there
            known = pool.submit(DBOS.list_workflows).result()
        self.number = len(known)
        taken = [one for one in known if not isinstance(one.error, ai.UserError)]  # others were turned down
        self.workflows = sorted(taken, key=lambda one: one.workflow_id)
        for one in self.workflows[-1:]:
            self.history = one.output[0] if one.status == "SUCCESS" else one.input["args"][0]
            if one.status == "CANCELLED":
                self.history = repair_messages(self.history)

    async def _run(self, results: ai.DeferredToolResults | None = None, text: str | None = None) -> Segment:
        self._launch()
        self.number += 1
        self.workflow = f"{self.number:04} {self.host.run}"
        with SetWorkflowID(self.workflow):
            return await self._ended(self.segment(self.history, text, results))

    async def _ended(self, workflow: Any) -> Segment:
        try:
            return self._left(*await workflow)
        except CANCELLED:  # nothing is given back, and the calls that waited are given up
            self.history = repair_messages(self.history)
            return Segment("Cancelled")

    def _left(self, history: Any, output: Any) -> Segment:
        self.history = history
        if isinstance(output, Exception):
            raise output
        return self._waits_for(output)

    def _tool(self, spec: ToolSpec) -> ai.Tool[None]:
        tool = super()._tool(spec)
        step: Any = DBOS.step(name=spec.name)(tool.function)
        return ai.Tool(step, name=spec.name, requires_approval=tool.requires_approval)


def _calls_from_threads(loop: Any) -> threading.Event:
    """Set once a thread has called something on the loop."""
    is_called, call, here = threading.Event(), loop.call_soon_threadsafe, threading.get_ident()

    def called(*args: Any, **more: Any) -> Any:
        handle = call(*args, **more)
        if threading.get_ident() != here:
            is_called.set()
        return handle

    loop.call_soon_threadsafe = called
    return is_called


adapter = OnDBOS
