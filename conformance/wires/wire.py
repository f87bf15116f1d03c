"""An application behind a wire, with the ends that it is pointed at: one for each process of the kit."""

from __future__ import annotations

import asyncio
import os

import httpx

from runlock.conformance.errors import AdapterError
from runlock.conformance.wires import wiring
from runlock.conformance.wires.address import PLACE, Address, exported
from runlock.conformance.wires.ag_ui_client import HttpClient, NoStream
from runlock.conformance.wires.contact import Contact, Departure, Memory
from runlock.conformance.wires.ends import Ends
from runlock.conformance.wires.launch import Launched, free_port
from runlock.conformance.wires.learned import Learned
from runlock.conformance.wires.wiring import Wiring, new_mark


class Wire(Wiring):
    """The ends of one application, the process of it that the kit started, and what it is known to do."""

    gone_wrong = (httpx.HTTPError, NoStream)

    def __init__(self, address: Address, ends: Ends | None = None) -> None:
        super().__init__(address, ends, 0 if address.is_launched else address.ends)
        try:
            self.url = self._launched() if address.is_launched else address.url
            self.http = self.real.run(self._client())
            self.learned: Learned = self.real.run(self._first_contact())
        except BaseException:
            self.close()  # or the next attempt finds its port taken
            raise

    def thread(self) -> HttpClient:
        """A client with a thread of its own; its name is a mark that nothing else in a request looks like."""
        ends = self.ends  # clients are copied, and with a method its object would be
        return HttpClient(self.url, new_mark(), lambda name: ends.plain(name))  # noqa: PLW0108

    def restart(self) -> None:
        """Kill the application, and start it again on its data."""
        self.real.run(self._restart())

    async def _restart(self) -> None:
        assert self.process is not None  # else a crash is not offered
        self.process.end()
        self.process.start()
        await self.process.until_up(self.url)
        await self.http.aclose()  # its connections ended with the process
        self.http = await self._client()

    def _launched(self) -> str:
        port = str(free_port())
        command = [word.replace(PLACE, port) for word in self.address.command]
        url = self.address.url.replace(PLACE, port)
        self.process = Launched(command, {**os.environ, **exported(self.ends.port), "PORT": port})
        self.process.start()
        self.real.run(self.process.until_up(url))
        return url

    async def _client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(timeout=httpx.Timeout(None, connect=5.0), trust_env=False)

    async def _first_contact(self) -> Learned:
        """Run a round of all tools, so that what is not wired up is said before anything is judged."""
        contact, client = await self._round()
        contact.refuse_unwired(client)
        waits, declares = contact.waits(client), client.declared
        return Learned(
            waits,
            contact.answers(client),
            contact.entered,
            tuple(self.ends.offered),
            await self._stops(contact.reaction),
            await self._remembers(),
            bool(waits) and self.process is not None and await self._survives(contact, client),
            declares,
        )

    async def _stops(self, reaction: float) -> bool:
        """Whether a run ends when its client goes away; no, if there is no tool that just runs."""
        if not self.address.free:
            return False
        client = self.thread()
        departure = Departure(client.mark, self.address.free[0], reaction)
        return await self.tried(departure, departure.stops(client, self.http))

    async def _remembers(self) -> bool:
        """Whether a thread has the messages that a request leaves out."""
        client = self.thread()
        memory = Memory(client.mark)
        return await self.tried(memory, memory.keeps(client, self.http))

    async def _survives(self, contact: Contact, client: HttpClient) -> bool:
        """Whether what waits can still be approved after the kit has killed and started the application."""
        await self._restart()
        return await self.tried(contact, contact.approves(client, self.http))

    async def _round(self) -> tuple[Contact, HttpClient]:
        client = self.thread()
        contact = Contact(self.address, self.ends, client.mark)
        self.ends.seat(contact)
        try:
            await asyncio.wait_for(contact.run(client, self.http), wiring.CONTACT_SECONDS)
        except httpx.ConnectError as error:
            raise AdapterError(
                f"Nothing answers at {self.url}.",
                "Start the application, or have the kit start it: `--launch COMMAND`.",
            ) from error
        except httpx.HTTPError as error:
            raise AdapterError(f"{self.url} broke off: {error!r}.", "Its log says why.") from error
        except NoStream as error:
            raise AdapterError(f"{self.url} answered a run with {error}.", error.right) from error
        except TimeoutError:
            raise AdapterError(
                f"The first run at {self.url} did not end within {wiring.CONTACT_SECONDS:.0f} seconds.",
                contact.so_far(),
            ) from None
        finally:
            self.ends.unseat(contact)
        return contact, client
