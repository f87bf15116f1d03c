"""The outside world of the application that the kit serves: what its model end says is taken as it comes."""

import asyncio

import httpx
import pytest

from runlock.conformance.transport.world import ModelFault
from runlock.conformance.wires.served_world import Upstream, World


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"error": {"message": "too long"}}', "too long"),
        (b"", "the model end answered 503"),
        (b'["an error"]', "the model end answered 503"),
    ],
)
def test_a_refusal_of_the_model_end_is_a_fault_of_the_model(content, said):
    """A model end that ends meanwhile says nothing, and the run of its client ends in an error."""
    with pytest.raises(ModelFault, match=said):
        asyncio.run(asked(httpx.Response(503, content=content)))


async def asked(answer):
    """Ask a model end that gives this answer."""
    async with httpx.AsyncClient(transport=httpx.MockTransport(lambda request: answer)) as http:
        await World(Upstream("http://model", http, None, None), []).infer([])
