"""Serves any runtime under test over a pipe: a JSON-RPC server loop on standard input and output.

The loop ends when its input ends, after `shutdown` was answered, or at SIGTERM; it closes the runtime in
each case.  Standard output belongs to the protocol: output of the runtime goes to standard error.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, BinaryIO, Final

from pydantic import ValidationError

from runlock.conformance.errors import RunlockError, SutDied
from runlock.conformance.protocol import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    SUT_CRASHED,
    ProtocolError,
    Wire,
)
from runlock.conformance.protocol.framing import (
    LINE_LIMIT_BYTES,
    NotALine,
    decode,
    encode,
    quote,
)
from runlock.conformance.transport.sut import Sut

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600

_A_REQUEST: Final = 'a request is `{"jsonrpc": "2.0", "id": 1, "method": "settle", "params": {}}`'


class Terminated(KeyboardInterrupt):
    """SIGTERM arrived; a subclass of the interrupt, which no handler on the way catches as an error."""


Methods = Mapping[str, tuple[type[Wire], type[Wire]]]
"""Each verb with the models of its parameters and of its answer."""


def serve(sut: Sut, methods_of: Callable[[str | None], Methods], stdin: BinaryIO, stdout: BinaryIO) -> None:
    """Answer the requests on `stdin`, one a line, until they end; then close the SUT.

    `methods_of` gives the verbs of the family that the handshake names, or of no family before the handshake.
    """
    with (
        _alone(stdin, stdout) as (requests, answers),
        contextlib.closing(sut),
        contextlib.suppress(Terminated, BrokenPipeError),
        _ended_by_sigterm(),
    ):
        _loop(sut, methods_of, requests, answers)


def _loop(
    sut: Sut, methods_of: Callable[[str | None], Methods], requests: BinaryIO, answers: BinaryIO
) -> None:
    methods, process = methods_of(None), os.getpid()
    for line in _lines(requests):
        request = _read(line)
        answer = request if isinstance(request, ProtocolError) else _asked(sut, methods, request)
        if os.getpid() != process:  # a child that the runtime forked would answer as well
            os._exit(1)
        if isinstance(request, dict) and request["method"] == "initialize" and isinstance(answer, dict):
            methods = methods_of(answer.get("family"))
        answers.write(_written(request, answer))
        answers.flush()
        if isinstance(request, dict) and request["method"] == "shutdown" and isinstance(answer, dict):
            return


def _lines(requests: BinaryIO) -> Iterator[bytes]:
    """The incoming lines; of a line that is too long, only as much as shows that it is."""
    while line := requests.readline(LINE_LIMIT_BYTES + 1):
        rest = line
        while len(rest) > LINE_LIMIT_BYTES and not rest.endswith(b"\n"):
            rest = requests.readline(LINE_LIMIT_BYTES + 1)
        yield line


def _read(line: bytes) -> dict[str, Any] | ProtocolError:
    if len(line) > LINE_LIMIT_BYTES and not line.endswith(b"\n"):
        return ProtocolError(PARSE_ERROR, "the line is longer than 4 MiB")
    try:
        request = decode(line)
    except NotALine as flaw:
        return ProtocolError(PARSE_ERROR, f"the line {quote(line)} {flaw}")
    flaw_of_request = _flaw(request)
    if flaw_of_request:
        return ProtocolError(INVALID_REQUEST, f"{flaw_of_request}; {_A_REQUEST}")
    return {"params": {}, **request}


def _flaw(request: Any) -> str | None:
    if isinstance(request, list):
        return "the line holds a batch, but the kit sends one request after the other"
    if not isinstance(request, dict):
        return "the line holds no object"
    if request.get("jsonrpc") != "2.0":
        return 'the request lacks `"jsonrpc": "2.0"`'
    if not isinstance(request.get("method"), str):
        return "the request names no method"
    if type(request.get("id")) not in (int, str):
        return "the request has no id, a number or a text, to answer to"
    return None


def _asked(sut: Sut, methods: Methods, request: dict[str, Any]) -> dict[str, Any] | ProtocolError:
    method, params = request["method"], request["params"]
    if method not in methods:
        return ProtocolError(
            METHOD_NOT_FOUND, f"there is no method {quote(method)}; there are {', '.join(methods)}"
        )
    try:
        methods[method][0].model_validate(params)
        return sut.request(method, params)
    except ValidationError as error:
        return ProtocolError(INVALID_PARAMS, f"the parameters of {method} do not fit: {_misfit(error)}")
    except ProtocolError as error:
        return error
    except SutDied as error:
        return ProtocolError(SUT_CRASHED, error.what, {"trace": str(error)})
    except RunlockError as error:
        return ProtocolError(INTERNAL_ERROR, str(error))


def _misfit(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"]) or "params"
    if first["type"] == "missing":
        return f"{place} is missing"
    return f"{place} is {quote(repr(first['input']))}; {first['msg'][:1].lower()}{first['msg'][1:]}"


def _written(request: dict[str, Any] | ProtocolError, answer: dict[str, Any] | ProtocolError) -> bytes:
    own_id = request["id"] if isinstance(request, dict) else None
    if isinstance(answer, ProtocolError):
        return _error_line(own_id, answer)
    try:
        line = encode({"jsonrpc": "2.0", "id": own_id, "result": answer})
    except (TypeError, ValueError, RecursionError) as error:
        return _error_line(own_id, ProtocolError(INTERNAL_ERROR, f"the answer is no JSON: {error}"))
    if len(line) - 1 > LINE_LIMIT_BYTES:
        too_long = f"the answer has {len(line) - 1} bytes, and a line holds at most 4 MiB"
        return _error_line(own_id, ProtocolError(INTERNAL_ERROR, too_long))
    return line


def _error_line(own_id: Any, error: ProtocolError) -> bytes:
    body: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.data is not None:
        body["data"] = error.data
    try:
        return encode({"jsonrpc": "2.0", "id": own_id, "error": body})
    except (TypeError, ValueError, RecursionError):  # data that is not JSON: the sentence must suffice
        return encode({"jsonrpc": "2.0", "id": own_id, "error": {**body, "data": None}})


@contextlib.contextmanager
def _alone(stdin: BinaryIO, stdout: BinaryIO) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """The two streams, out of reach of all other code in the process, including C code."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.redirect_stdout(sys.stderr))
        requests = stack.enter_context(_moved(stdin, 0, "rb"))
        answers = stack.enter_context(_moved(stdout, 1, "wb"))
        yield requests, answers


@contextlib.contextmanager
def _moved(stream: BinaryIO, descriptor: int, mode: str) -> Iterator[BinaryIO]:
    """A duplicate of the stream, if it was the process's own, which is replaced by a harmless one."""
    if _descriptor(stream) != descriptor:
        yield stream
        return
    private = os.dup(descriptor)
    if descriptor == 1:
        os.dup2(2, 1)
    else:
        with open(os.devnull, "rb") as nothing:
            os.dup2(nothing.fileno(), 0)
    try:
        # Closing would retry a failed write to a reader that is gone.
        with contextlib.suppress(BrokenPipeError), os.fdopen(os.dup(private), mode) as moved:
            yield moved  # type: ignore[misc]
    finally:
        os.dup2(private, descriptor)
        os.close(private)


def _descriptor(stream: BinaryIO) -> int | None:
    try:
        return stream.fileno()
    except (OSError, AttributeError):  # a stream in memory
        return None


@contextlib.contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():  # signals can only be handled there
        yield
        return

    def terminate(*_: object) -> None:
        raise Terminated

    before = {one: signal.signal(one, terminate) for one in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for one, earlier in before.items():
            signal.signal(one, earlier)
