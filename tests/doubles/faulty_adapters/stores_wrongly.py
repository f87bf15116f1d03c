"""The reference with a store of its own, wrong on purpose: `stores_wrongly.py HOW PROFILE`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from served import serve

from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.reference import THREAD, DurableAdapter, StoringWorld


class RunsAgainWhatIsOver(DurableAdapter):
    """Takes the calls that succeeded for new ones when it comes back."""

    async def restore(self, host, scenario, checkpoint):
        await super().restore(host, scenario, checkpoint)
        for call in self.runtime.state.last_round():
            call.status = "New" if call.status == "Succeeded" else call.status


class LateWorld(StoringWorld):
    """Says that a checkpoint is durable, and writes it when the next one comes."""

    waiting = None

    async def commit(self, trigger, cause, force, state):
        if self.waiting is not None:
            self.store.put(*self.waiting)
        self.waiting = (THREAD, str(self.host.run), trigger, cause, state)
        self.observe("checkpoint", trigger=trigger, cause=cause, force=force, state=state)


class StoresLate(DurableAdapter):
    """Lives in a world that writes late."""

    def world(self, host):
        return LateWorld(host, self.handshake, self.store)


WRONG = {wrong.__name__: wrong for wrong in (RunsAgainWhatIsOver, StoresLate)}

serve(Hosted(lambda: WRONG[sys.argv[1]](sys.argv[2])), sys.stdin.buffer, sys.stdout.buffer)
