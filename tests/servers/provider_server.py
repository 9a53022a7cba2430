"""A local model provider that plays a recorded conversation over the real wire formats.

It speaks OpenAI chat completions (`POST /v1/chat/completions`), OpenAI responses
(`POST /v1/responses`), Anthropic messages (`POST /v1/messages`) and the model lists, with the
errors, headers and status codes of the real services, so that the product's own client code and
the vendors' SDKs can be run against it without a network or a key.

    python tests/servers/provider_server.py --conversation conversation.json --port 0

prints `http://127.0.0.1:PORT/v1` and serves until it is stopped. The conversation file is an object:

    {"key": "test-key", "models": ["demo-model"],
     "probe": [STEP…], "replies": [STEP…]}

`key` and `models` may be left out: then every key or model is welcome. A STEP is one of

    {"text": "…", "finish": "stop"|"length"|"refusal", "usage": [input, output], "delay_s": 0.0}
    {"file": "reply.md"}                      text beside the conversation file
    {"status": 429, "retry_after": 2, "message": "…", "type": "…"}
    {"hang_s": 60}                            accept and say nothing
    {"drop": true}                            close the connection without an answer
    {"raw": "<html>…", "status": 502}         these words instead of JSON, as a proxy sends them
    {"text": "…", "cut_after": 100}           promise the whole answer, send its first bytes, close

`replies` are played once each in order to requests of more than 500 characters; shorter ones are
probes, answered by `probe` (its last step forever, "ready" without any).
"""

from __future__ import annotations

import argparse
import json
import socket
import threading
import time
import uuid
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any

PROBE_CHARACTERS = 500
CHARACTERS_PER_TOKEN = 4  # a rough count, as good as any for a recorded reply
Json = dict[str, Any]

# HTTP status → (OpenAI's error type and code, Anthropic's error type), as the services send them.
ERROR_TYPES = {
    400: ("invalid_request_error", None, "invalid_request_error"),
    401: ("invalid_request_error", "invalid_api_key", "authentication_error"),
    403: ("invalid_request_error", "forbidden", "permission_error"),
    404: ("invalid_request_error", "model_not_found", "not_found_error"),
    429: ("requests", "rate_limit_exceeded", "rate_limit_error"),
    500: ("server_error", None, "api_error"),
    503: ("server_error", None, "api_error"),
    529: ("server_error", None, "overloaded_error"),
}


@dataclass
class Call:
    """One request that was received: enough for a test to look at what was sent."""

    path: str
    model: str
    text: str  # all message texts joined
    body: Json
    headers: dict[str, str]
    status: int = 0


@dataclass
class Conversation:
    """What the server answers, and what it has been asked."""

    replies: list[Json]
    probe: list[Json] = field(default_factory=list)
    key: str | None = None
    models: list[str] | None = None
    directory: Path = Path()
    calls: list[Call] = field(default_factory=list)
    probes: list[Call] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._next_reply = 0

    @classmethod
    def read(cls, path: Path) -> Conversation:
        given = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(given, list):
            given = {"replies": given}
        return cls(
            replies=given["replies"],
            probe=given.get("probe", []),
            key=given.get("key"),
            models=given.get("models"),
            directory=path.parent,
        )

    def step(self, call: Call) -> Json:
        """The next step for this call. One that comes after the last reply gets status 400."""
        with self._lock:
            if len(call.text) <= PROBE_CHARACTERS:
                self.probes.append(call)
                return self.probe[min(len(self.probes), len(self.probe)) - 1] if self.probe else {"text": "ready"}
            self.calls.append(call)
            if self._next_reply >= len(self.replies):
                return {"status": 400, "message": "the recorded conversation is over"}
            self._next_reply += 1
            return self.replies[self._next_reply - 1]

    def text_of(self, step: Json) -> str:
        if "file" in step:
            return (self.directory / str(step["file"])).read_text(encoding="utf-8")
        return str(step["text"])


class ProviderServer:
    """The server in a thread; a context manager. `url` ends in /v1, as OpenAI's base URL does."""

    def __init__(self, conversation: Conversation, port: int = 0) -> None:
        self.conversation = conversation
        self._server = _Server(("127.0.0.1", port), conversation)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def root(self) -> str:
        """Without /v1, as Anthropic's SDK wants its base URL."""
        port = self._server.server_address[1]
        return f"http://127.0.0.1:{port}"

    @property
    def url(self) -> str:
        return f"{self.root}/v1"

    def __enter__(self) -> ProviderServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], conversation: Conversation) -> None:
        super().__init__(address, _Handler)
        self.conversation = conversation
        self.stopping = threading.Event()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # headers and body go out in two writes
    server: _Server

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (the base class's name)
        """Quiet: the calls are recorded in the conversation."""

    def do_GET(self) -> None:
        anthropic = "anthropic-version" in self.headers
        if not self._authorised():
            return self._fail(401, "Incorrect API key provided", anthropic)
        models = self.server.conversation.models or ["demo-model"]
        path = self.path.partition("?")[0].rstrip("/")
        if path == "/v1/models":
            return self._send(200, {"object": "list", "data": [_model_entry(name) for name in models]})
        name = path.removeprefix("/v1/models/")
        if path.startswith("/v1/models/") and name in models:
            return self._send(200, _model_entry(name))
        return self._fail(404, f"no such page or model: {path}", anthropic)

    def do_POST(self) -> None:
        path = self.path.partition("?")[0]
        anthropic = path == "/v1/messages"
        payload = self.rfile.read(int(self.headers.get("content-length", "0")))
        try:
            body = json.loads(payload)
        except ValueError:
            return self._fail(400, "the body is not JSON", anthropic)
        if path not in WIRES:
            return self._fail(404, f"no such endpoint: {path}", anthropic)
        if not self._authorised():
            return self._fail(401, "Incorrect API key provided", anthropic)
        if body.get("stream"):
            return self._fail(400, "this server does not stream", anthropic)
        if anthropic and "max_tokens" not in body:
            return self._fail(400, "max_tokens: Field required", anthropic)
        models = self.server.conversation.models
        if models is not None and body.get("model") not in models:
            return self._fail(404, f"The model `{body.get('model')}` does not exist", anthropic)
        texts = [_text(body.get("system")), _text(body.get("instructions"))]
        texts += [_text(message) for message in body.get("messages") or _listed(body.get("input"))]
        headers = {name.lower(): value for name, value in self.headers.items()}
        call = Call(path, str(body.get("model")), "\n".join(filter(None, texts)), body, headers)
        return self._play(call, self.server.conversation.step(call), anthropic)

    def _play(self, call: Call, step: Json, anthropic: bool) -> None:
        if "hang_s" in step:
            self.server.stopping.wait(float(step["hang_s"]))
            self.close_connection = True
            return None
        if step.get("drop"):
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return None
        self.server.stopping.wait(float(step.get("delay_s", 0)))
        if "raw" in step:
            call.status = int(step.get("status", 200))
            return self._send_bytes(call.status, str(step["raw"]).encode(), {"content-type": "text/html"})
        if "status" in step:
            call.status = int(step["status"])
            return self._fail(call.status, str(step.get("message", "as recorded")), anthropic, step)
        call.status = 200
        text = self.server.conversation.text_of(step)
        usage = step.get("usage") or [
            len(call.text) // CHARACTERS_PER_TOKEN + 1,
            len(text) // CHARACTERS_PER_TOKEN + 1,
        ]
        answer = WIRES[call.path](call.model, text, str(step.get("finish", "stop")), usage)
        if "cut_after" in step:
            self.close_connection = True
            return self._send_bytes(200, json.dumps(answer).encode(), {}, int(step["cut_after"]))
        return self._send(200, answer)

    def _authorised(self) -> bool:
        key = self.server.conversation.key
        given = self.headers.get("x-api-key") or self.headers.get("authorization", "").removeprefix("Bearer ")
        return key is None or given == key

    def _fail(self, status: int, message: str, anthropic: bool, step: Json | None = None) -> None:
        kind, code, anthropic_kind = ERROR_TYPES.get(status, ("server_error", None, "api_error"))
        step = step or {}
        kind, code = step.get("type", kind), step.get("code", code)
        error: Json = {"message": message, "type": kind, "param": None, "code": code}
        body: Json = {"error": error}
        if anthropic:
            body = {"type": "error", "error": {"type": step.get("type", anthropic_kind), "message": message}}
        headers = {"retry-after": str(step["retry_after"])} if "retry_after" in step else {}
        self._send(status, body, headers)

    def _send(self, status: int, body: Json, headers: dict[str, str] | None = None) -> None:
        self._send_bytes(status, json.dumps(body).encode(), {"content-type": "application/json", **(headers or {})})

    def _send_bytes(self, status: int, payload: bytes, headers: dict[str, str], most: int | None = None) -> None:
        self.send_response(status)
        self.send_header("content-length", str(len(payload)))
        self.send_header("x-request-id", f"req_{uuid.uuid4().hex}")
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(payload[:most])


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _text(part: object) -> str:
    """All text of a message, a content list or a plain string."""
    if isinstance(part, str):
        return part
    if isinstance(part, list):
        return "\n".join(filter(None, (_text(item) for item in part)))
    if isinstance(part, dict):
        return _text(part.get("content") or part.get("text"))
    return ""


def _model_entry(name: str) -> Json:
    return {"id": name, "object": "model", "created": 1700000000, "owned_by": "local", "type": "model"}


def _chat_completion(model: str, text: str, finish: str, usage: list[int]) -> Json:
    refused = finish == "refusal"
    message = {"role": "assistant", "content": None if refused else text, "refusal": text if refused else None}
    return {
        "id": f"chatcmpl-{uuid.uuid4().hex}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "choices": [
            {
                "index": 0,
                "message": message,
                "logprobs": None,
                "finish_reason": "content_filter" if refused else finish,
            }
        ],
        "usage": {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)},
        "system_fingerprint": None,
    }


def _response(model: str, text: str, finish: str, usage: list[int]) -> Json:
    kind = {"type": "refusal", "refusal": text} if finish == "refusal" else {"type": "output_text", "text": text}
    cut = finish == "length"
    return {
        "id": f"resp_{uuid.uuid4().hex}",
        "object": "response",
        "created_at": int(time.time()),
        "status": "incomplete" if cut else "completed",
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "instructions": None,
        "metadata": {},
        "model": model,
        "output": [
            {
                "id": f"msg_{uuid.uuid4().hex}",
                "type": "message",
                "role": "assistant",
                "status": "incomplete" if cut else "completed",
                "content": [{**kind, "annotations": []}],
            }
        ],
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": {
            "input_tokens": usage[0],
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": usage[1],
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": sum(usage),
        },
    }


def _message(model: str, text: str, finish: str, usage: list[int]) -> Json:
    reasons = {"stop": "end_turn", "length": "max_tokens", "refusal": "refusal"}
    return {
        "id": f"msg_{uuid.uuid4().hex}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [{"type": "text", "text": text}],
        "stop_reason": reasons[finish],
        "stop_sequence": None,
        "usage": {"input_tokens": usage[0], "output_tokens": usage[1]},
    }


WIRES = {"/v1/chat/completions": _chat_completion, "/v1/responses": _response, "/v1/messages": _message}


def main() -> None:
    parser = argparse.ArgumentParser(description="Play a recorded model conversation over the real wire formats.")
    parser.add_argument("--conversation", type=Path, required=True, help="JSON file; see the module's docstring")
    parser.add_argument("--port", type=int, default=0, help="0 picks a free one")
    options = parser.parse_args()
    with ProviderServer(Conversation.read(options.conversation), options.port) as server:
        print(server.url, flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            calls = server.conversation
            print(f"{len(calls.probes)} probes, {len(calls.calls)} calls", flush=True)


if __name__ == "__main__":
    main()
