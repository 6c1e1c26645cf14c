"""Makes the turns of a session out of its events: who said what, in order, and what tools did.

Needs Python 3.9 and its standard library only: the kit for evaluators has a copy of this file, so
that the API, judges and evaluators see the same turns.

Most agents send the whole conversation with each request. A turn stands once, so a request gives
only the messages that its agent did not have before:

- A message is known by its role and text, a call of a tool by its id, else by name and arguments.
- A request is compared with the request that it continues, in order, and with what was said since.
  So a history may lose its beginning, or have a summary in its place.
- A text of the user that was said before is new again only at the end of a request: if the request
  that it continues no longer had it there, or had it there, got an answer, and carries no history.
- Each agent has a history of its own. What two agents say in the same words are two turns.

Pauses, interruptions, logs and spans without a role give no turns.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

ROLES = ("goal", "system", "user", "assistant", "tool", "hook", "error", "end")

# Turns wait for an open call before them, so that they come in order. Above these limits the call
# is given out without its output, and the output is a turn of its own when it comes.
MAX_WAITING_TURNS = 2000
MAX_WAITING_CHARS = 16 * 1024 * 1024
# The memory of an agent: the requests that one may continue, and the newest texts and calls.
_REQUESTS = 8
_REMEMBERED = 100_000
_WITH_MESSAGES = 8
_RECENT = 256
_DEEPEST = 8

_FAILURES = frozenset({"failed", "failure", "error", "timeout", "rejected", "denied", "blocked"})
_ROLES = {
    "user": "user",
    "human": "user",
    "humanmessage": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "aimessage": "assistant",
    "model": "assistant",
    "system": "system",
    "systemmessage": "system",
    "developer": "system",
    "tool": "tool",
    "toolmessage": "tool",
    "function": "tool",
    "functionmessage": "tool",
}
_PLAIN_ROLES = frozenset({"user", "assistant", "system"})
_TEXT_TYPES = frozenset(
    {"text", "input_text", "output_text", "summary_text", "reasoning_text", "refusal", "Generation"}
)
_THOUGHT_TYPES = frozenset({"reasoning", "thinking", "redacted_thinking"})
_CALL_TYPES = frozenset(
    {"tool_call", "tool-call", "toolCall", "tool_use", "server_tool_use", "function_call"}
    | {"function", "custom_tool_call", "mcp_call"}
)
_RESULT_TYPES = frozenset(
    {"tool_call_response", "tool-result", "tool_result", "toolResult", "function_call_output"}
    | {"custom_tool_call_output", "web_search_tool_result", "mcp_tool_result"}
)
# Parts with data that nobody reads: only their type is shown.
_MEDIA_TYPES = frozenset(
    {"image", "image_url", "input_image", "audio", "input_audio", "output_audio", "video", "media"}
    | {"file", "input_file", "document", "blob", "inlineData", "inline_data"}
)
# Parts without a type: the member that has the part, and the type that it means.
_UNTYPED = {
    "functionCall": "function_call",
    "function_call": "function_call",
    "toolUse": "tool_use",
    "functionResponse": "tool_result",
    "function_response": "tool_result",
    "toolResult": "tool_result",
    "reasoningContent": "reasoning",
    "inlineData": "inlineData",
    "inline_data": "inline_data",
    "image": "image",
    "document": "document",
}
_TEXT = ("text", "content", "refusal")
_THOUGHT = ("content", "thinking", "text", "reasoning", "reasoningText", "summary")
_THOUGHTS = ("reasoning", "reasoning_content", "thinking")
_CALL_ID = ("call_id", "toolCallId", "toolUseId", "tool_call_id", "id")
_RESULT_ID = ("tool_call_id", "tool_use_id", "call_id", "toolCallId", "toolUseId")
_NAME = ("name", "toolName", "tool_name")
_ARGUMENTS = ("arguments", "args", "input", "parameters")
_RESULT = ("response", "result", "output", "content")
_CONTENT = ("content", "parts", "contents", "text")
_CALLS = ("tool_calls", "toolCalls", "function_call")
_WRAPPERS = ("message", "kwargs", "data")
_BODIES = ("messages", "contents", "input", "prompt", "choices")


def turns(events: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yields the turns of a session, given its events as an evaluator gets them, in their order.

    An event is `{id, ts, event_type, payload}`. A turn is `{n, role, agent_id, ts, text, reasoning,
    tool, event_ids}`: `n` counts from 1, `role` is one of `ROLES`, `ts` is that of the first event.
    `tool` is None, or `{name, call_id, input, output, failed, duration_ms}` with texts, empty if
    absent; `text` is then the error. Texts are whole.
    """
    session = SessionReader()
    n = 0
    for event in events:
        session.read(event)
        for turn in session.ready():
            n += 1
            yield turn.row(n)
    session.end_group()
    for turn in session.ready(at_end=True):
        n += 1
        yield turn.row(n)


def cut(turn: Mapping[str, Any], max_text: int) -> dict[str, Any]:
    """Returns a turn as the API has it: without reasoning, texts of at most so many bytes of UTF-8.

    `cut` is the number of bytes that were left out.
    """
    text, left_out = _cut(turn["text"], max_text)
    tool = turn["tool"]
    if tool is not None:
        tool = dict(tool)
        for name in ("name", "call_id", "input", "output"):
            tool[name], more = _cut(tool[name], max_text)
            left_out += more
    return {
        "n": turn["n"],
        "role": turn["role"],
        "agent_id": turn["agent_id"],
        "ts": turn["ts"],
        "text": text,
        "tool": tool,
        "event_ids": turn["event_ids"],
        "cut": left_out,
    }


def _cut(text: str, most: int) -> tuple[str, int]:
    if len(text) * 4 <= most:
        return text, 0
    data = text.encode("utf-8", "replace")
    if len(data) <= most:
        return text, 0
    kept = data[:most].decode("utf-8", "ignore")
    return kept, len(data) - len(kept.encode("utf-8"))


class MessageItem(NamedTuple):
    """A part of a message: a text, a call of a tool, or the output of one."""

    kind: str
    role: str
    # Of a call its arguments.
    text: str
    id: str = ""
    name: str = ""
    failed: bool = False

    @property
    def key(self) -> bytes:
        """Returns what it is known by."""
        return _digest(self.kind, self.id) if self.id else self.keys()[0]

    def keys(self) -> tuple[bytes, ...]:
        """Returns its key, and of a call or an output with an id that without one."""
        if self.kind == "text":
            return (_digest("text", self.role, self.text.strip()),)
        if self.kind == "call":
            plain = _digest("call", "", self.name, _canonical(self.text))
        else:
            plain = _digest("output", "", self.text.strip())
        return (_digest(self.kind, self.id), plain) if self.id else (plain,)


class MessageItems:
    """Reads messages in the forms of providers and packages."""

    def __init__(self) -> None:
        self.items: list[MessageItem] = []
        self.thoughts: list[str] = []
        # Calls whose outputs did not come yet.
        self._waiting: list[MessageItem] = []

    def read(self, value: Any, role: str, depth: int = 0) -> None:
        """Reads messages; `role` is that of messages that name none."""
        if isinstance(value, str):
            value = _messages_in(value)
        if isinstance(value, str):
            self.message({"content": value}, role)
        elif depth > _DEEPEST or value is None:
            return
        elif isinstance(value, dict):
            self._read_object(value, role, depth)
        elif isinstance(value, list):
            if len(value) == 2 and isinstance(value[0], str) and value[0].lower() in _ROLES:
                self.message({"role": value[0], "content": value[1]}, role)
                return
            for one in value:
                self.read(one, role, depth + 1)
        else:
            self.message({"content": value}, role)

    def _read_object(self, value: dict[str, Any], role: str, depth: int) -> None:
        body = next((name for name in _BODIES if isinstance(value.get(name), list)), None)
        if body is not None and not any(name in value for name in ("role", "type", "content")):
            for name in ("system", "instructions"):
                self.read(value.get(name), "system", depth + 1)
            self.read(value[body], role, depth + 1)
        else:
            self.message(value, role)

    def message(self, raw: dict[str, Any], role: str) -> None:
        """Reads one message: the outputs in it first, then its text, then its calls."""
        content = raw.get("content")
        if len(raw) == 2 and isinstance(content, str) and raw.get("role") in _PLAIN_ROLES:
            if content.strip():
                self.items.append(MessageItem("text", raw["role"], _clean(content)))
            return
        raw = _unwrapped(raw)
        role = _role_of(raw, role)
        content = _first(raw, _CONTENT)
        if isinstance(content, dict) and isinstance(content.get("parts"), list):
            content = content["parts"]
        if _is_part(raw):
            content = raw
        if role == "tool" and not _has_results(content):
            self._output(raw, _text(content))
            return
        texts: list[str] = []
        calls: list[MessageItem] = []
        for part in content if isinstance(content, list) else [content]:
            self._part(part, texts, calls)
        for name in _CALLS:
            called = _decoded(raw.get(name))
            for call in called if isinstance(called, list) else [called]:
                _add_call(calls, call)
        self.thoughts += (t for t in (_text(raw.get(name)) for name in _THOUGHTS) if t)
        text = "\n".join(texts)
        if text.strip() and role != "tool":
            self.items.append(MessageItem("text", role, text))
        self.items += calls
        self._waiting += calls

    def _part(self, part: Any, texts: list[str], calls: list[MessageItem]) -> None:
        if part is None or part == "":
            return
        kind, inner = _kind_of(part)
        if kind in _CALL_TYPES:
            _add_call(calls, inner)
        elif kind in _RESULT_TYPES:
            value = _first(inner, _RESULT)
            if isinstance(value, dict) and "value" in value and "type" in value:
                value = value["value"]
            self._output(inner, _text(value))
        elif kind in _THOUGHT_TYPES:
            thought = _text(_first(inner, _THOUGHT))
            self.thoughts += [thought] if thought else []
        else:
            texts.append(_part_text(part))

    def _output(self, raw: dict[str, Any], text: str) -> None:
        call_id, name = _word(_first(raw, _RESULT_ID)), _word(_first(raw, _NAME))
        if not call_id and _role_of(raw, "") != "tool":
            call_id = _word(raw.get("id"))
        for place, call in enumerate(self._waiting):
            if call.id == call_id if call_id else name in ("", call.name):
                del self._waiting[place]
                call_id, name = call_id or call.id, name or call.name
                break
        failed = raw.get("is_error") is True or raw.get("status") == "error"
        self.items.append(MessageItem("output", "tool", text, call_id, name, failed))


class DraftTurn:
    """A turn whose events may still come."""

    __slots__ = (
        *("agent_id", "counted", "ended", "event_ids", "has_result", "head", "ids", "input"),
        *(
            "is_given",
            "is_open",
            "keys",
            "number",
            "output",
            "real_id",
            "reasoning",
            "role",
            "said",
        ),
        *("text", "tool", "ts", "used"),
    )

    def __init__(
        self, number: int, role: str, agent_id: str, event: Mapping[str, Any], text: str
    ) -> None:
        self.number, self.role, self.agent_id, self.text = number, role, agent_id, text
        self.ts = event.get("ts")
        self.event_ids: list[Any] = [event.get("id")]
        self.reasoning = ""
        self.tool: dict[str, Any] | None = None
        self.is_open = self.is_given = False
        # The characters that the session counts.
        self.counted = 0
        # Of a hook the first line, of a call its id if that is the model's.
        self.head = self.real_id = self.input = self.output = ""
        self.ids: list[str] = []
        self.keys: set[bytes] = set()
        # Of a call: a message had it, its use was an event, its end was one, there is an output.
        self.said = self.used = self.ended = self.has_result = False

    def note(self, event: Mapping[str, Any]) -> None:
        """Notes one more event of this turn."""
        if not self.is_given and event.get("id") not in self.event_ids:
            self.event_ids.append(event.get("id"))

    def row(self, n: int) -> dict[str, Any]:
        """Gives the turn out, and forgets its texts."""
        tool = self.tool
        row = {
            "n": n,
            "role": self.role,
            "agent_id": self.agent_id,
            "ts": self.ts,
            "text": self.text,
            "reasoning": self.reasoning,
            "tool": None if tool is None else {**tool, "input": self.input, "output": self.output},
            "event_ids": self.event_ids,
        }
        self.is_given, self.event_ids = True, []
        self.text = self.reasoning = self.input = self.output = ""
        return row


class RequestMessages:
    """The messages of a request. The next request of the agent may have them and more."""

    def __init__(self, raw: Any = None) -> None:
        self.raw = raw
        self.reader = MessageItems()
        self.keys: list[bytes] = []
        # The keys of system texts among them, and how often each key is.
        self.system = b""
        self.seen: Counter[bytes] = Counter()

    def grow(self, raw: Any) -> bool:
        """Reads what is behind them in another request; returns whether that one begins so."""
        old = self.raw
        if not (isinstance(raw, list) and isinstance(old, list) and 0 < len(old) < len(raw)):
            return False
        if not isinstance(raw[0], dict) or raw[: len(old)] != old:
            return False
        for message in raw[len(old) :]:
            self.reader.read(message, "user", 1)
        self.raw = raw
        return True


class PriorRequest:
    """The texts that a later request is compared with."""

    __slots__ = ("keys", "messages", "system", "until")

    def __init__(self, keys: list[bytes], system: bytes, until: int) -> None:
        # Of its messages and of its system texts, and how many turns there were after it.
        self.keys, self.system, self.until = keys, system, until
        # Only the newest requests have them.
        self.messages: RequestMessages | None = None


class AgentHistory:
    """The texts that an agent said and heard so far."""

    def __init__(self, agent_id: str) -> None:
        self.agent_id = agent_id
        # How many turns have a key, and the number of the last one.
        self.known: dict[bytes, tuple[int, int]] = {}
        self.requests: list[PriorRequest] = []
        self.calls: dict[str, DraftTurn] = {}
        self.recent: deque[DraftTurn] = deque(maxlen=_RECENT)
        self.hooks: deque[DraftTurn] = deque(maxlen=_RECENT)
        # The parts of the last answers, by the ids of their requests.
        self.replies: dict[str, set[bytes]] = {}
        self.last_said = b""
        # The place of an answer without its words, which the next request may have.
        self.place: DraftTurn | None = None
        # Whether the last request was answered in words, and no tool was used since.
        self.is_answered = False

    def learn(self, keys: Iterable[bytes], number: int) -> None:
        """Counts the turn of this number for these keys."""
        for key in keys:
            count, _ = self.known.pop(key, (0, 0))
            _keep(self.known, key, (count + 1, number), _REMEMBERED)

    def continued(
        self, keys: Sequence[bytes], system: bytes
    ) -> tuple[PriorRequest | None, list[bool]]:
        """Returns the request that one with these messages continues, and which of them it had."""
        best, matched, most = None, [False] * len(keys), (-1, False)
        for request in self.requests:
            found = _same_order(request.keys, keys)
            score = (sum(found), request.system == system)
            if score > most:
                best, matched, most = request, found, score
            if score == (len(request.keys), True):
                break
        return best, matched

    def go_on(self, request: PriorRequest, before: PriorRequest | None, same: int) -> None:
        """Remembers a request, in place of the one that it continues if it has most of it."""
        if before is not None and before.system == request.system and same * 2 >= len(before.keys):
            self.requests.remove(before)
        self.requests.insert(0, request)
        del self.requests[_REQUESTS:]

    def alike(self, flag: str, call: MessageItem) -> DraftTurn | None:
        """Returns the oldest call without this flag that may be this one under another id.

        It has the same arguments, or one of the two has no id that the model gave.
        """
        near = [
            turn
            for turn in self.recent
            if not getattr(turn, flag) and turn.tool and turn.tool["name"] == call.name
        ]
        plain = call.keys()[-1]
        same = next((turn for turn in near if plain in turn.keys), None)
        return same or next((turn for turn in near if not (turn.real_id and call.id)), None)

    def unanswered(self, name: str) -> DraftTurn | None:
        """Returns the oldest call of a tool without a result; without a name, that of any."""
        for turn in self.recent:
            named = turn.tool is not None and name in ("", turn.tool["name"])
            if named and not (turn.ended or turn.has_result):
                return turn
        return None


class SessionReader:
    """The events of a session that were read so far, and the turns that were not given out."""

    def __init__(self) -> None:
        self._agents: dict[str, AgentHistory] = {}
        self._calls: dict[str, DraftTurn] = {}
        self._queue: deque[DraftTurn] = deque()
        self._size = self._made = 0
        # Messages that come one by one: their agent and request, and each with its event.
        self._group: tuple[str, str] | None = None
        self._grouped: list[tuple[Mapping[str, Any], dict[str, Any]]] = []
        self._event: Mapping[str, Any] = {}
        self._agent = AgentHistory("")
        self._newest: deque[PriorRequest] = deque()

    def read(self, event: Mapping[str, Any]) -> None:
        """Reads one event."""
        payload = event.get("payload")
        if not isinstance(payload, dict):
            return
        kind = event.get("event_type")
        agent_id = _word(payload.get("agent_id")) or "main"
        if kind == "model_message" and not payload.get("stop_reason"):
            group = (agent_id, _word(payload.get("request_id")))
            if group != self._group:
                self.end_group()
            self._group = group
            self._grouped.append((event, payload))
            return
        self.end_group()
        self._enter(event, agent_id)
        handle = _HANDLERS.get(kind) if isinstance(kind, str) else None
        if handle is not None:
            handle(self, payload)
        elif _word(payload.get("role")).lower() in _ROLES:
            self.message(payload)

    def end_group(self) -> None:
        """Reads the messages that came one by one, as those of a request."""
        if self._group is None:
            return
        (agent_id, _), grouped = self._group, self._grouped
        self._group, self._grouped = None, []
        messages = RequestMessages()
        items = messages.reader.items
        events: list[Mapping[str, Any]] = []
        for event, payload in grouped:
            messages.reader.message(payload, "user")
            events += [event] * (len(items) - len(events))
        self._enter(grouped[0][0], agent_id)
        self._ask(messages, 0, b"", events)

    def ready(self, *, at_end: bool = False) -> Iterator[DraftTurn]:
        """Yields the turns that are complete, in order; at the end all that are left."""
        queue = self._queue
        while queue:
            full = len(queue) > MAX_WAITING_TURNS or self._size > MAX_WAITING_CHARS
            if queue[0].is_open and not (full or at_end):
                return
            turn = queue.popleft()
            self._size -= turn.counted
            if turn.role:
                yield turn
            else:
                turn.is_given = True

    def _enter(self, event: Mapping[str, Any], agent_id: str) -> None:
        self._event = event
        if agent_id not in self._agents:
            self._agents[agent_id] = AgentHistory(agent_id)
        self._agent = self._agents[agent_id]

    def _add(self, role: str, text: str) -> DraftTurn:
        self._made += 1
        turn = DraftTurn(self._made, role, self._agent.agent_id, self._event, text)
        self._queue.append(turn)
        self._count(turn)
        return turn

    def _count(self, turn: DraftTurn) -> None:
        if not turn.is_given:
            size = len(turn.text) + len(turn.input) + len(turn.output)
            self._size += size - turn.counted
            turn.counted = size

    def _say(self, item: MessageItem) -> DraftTurn:
        keys = item.keys()
        turn = self._add(item.role, item.text)
        self._agent.learn(keys, self._made)
        if item.role == "assistant":
            self._agent.last_said = keys[0]
        return turn

    # Agents and people.

    def agent_start(self, payload: dict[str, Any]) -> None:
        """Adds a goal."""
        goal = _text(payload.get("goal"))
        if goal.strip():
            self._add("goal", goal)

    def agent_end(self, payload: dict[str, Any]) -> None:
        """Adds an end."""
        text = _joined(": ", _word(payload.get("outcome")), _text(payload.get("summary")))
        self._add("end", _joined("\n", text, _failure(payload)))

    def error(self, payload: dict[str, Any]) -> None:
        """Adds an error."""
        self._add("error", _error_text(payload, _text(payload.get("message"))))

    def compacted(self, payload: dict[str, Any]) -> None:
        """Adds what is said in place of a longer history."""
        message = _text(payload.get("message"))
        if message.strip():
            self._add("system", message)

    def human_wait(self, payload: dict[str, Any]) -> None:
        """Adds a question to a person, unless it is what the agent just said."""
        prompt = _text(payload.get("prompt"))
        item = MessageItem("text", "assistant", prompt)
        if not prompt.strip() or item.keys()[0] == self._agent.last_said:
            return
        turn = self._say(item)
        options = payload.get("options")
        choices = options if isinstance(options, list) else []
        turn.text = "\n- ".join([prompt, *map(_text, choices)])
        self._count(turn)

    def human_input(self, payload: dict[str, Any]) -> None:
        """Adds the words of a person."""
        response = _text(payload.get("response"))
        if response.strip():
            self._say(MessageItem("text", "user", response))

    def message(self, payload: dict[str, Any]) -> None:
        """Adds a message that came by itself, which is new whatever was said before."""
        reader = MessageItems()
        reader.message(payload, "user")
        for item in reader.items:
            if item.kind == "text":
                self._say(item)
            else:
                self._take(item, is_old=False)

    def hook_triggered(self, payload: dict[str, Any]) -> None:
        """Adds a hook, which may not be complete."""
        turn = self._add("hook", "")
        turn.is_open = True
        turn.real_id = _word(payload.get("hook_id"))
        name, trigger = _word(payload.get("hook_name")), _word(payload.get("trigger_event"))
        turn.head, turn.input = _joined(" on ", name, trigger), _text(payload.get("input"))
        turn.text = _joined("\n", turn.head, _labelled("input", turn.input))
        self._count(turn)
        self._agent.hooks.append(turn)

    def hook_completed(self, payload: dict[str, Any]) -> None:
        """Adds the end of a hook to its beginning."""
        hooks, hook_id = self._agent.hooks, _word(payload.get("hook_id"))
        name = _word(payload.get("hook_name"))
        for turn in hooks:
            same = turn.real_id == hook_id if hook_id else turn.head.startswith(name)
            if same and not turn.is_given:
                hooks.remove(turn)
                break
        else:
            turn = self._add("hook", "")
            turn.head = _joined(" on ", name, _word(payload.get("trigger_event")))
        turn.note(self._event)
        lines = [
            _joined(" → ", turn.head, _word(payload.get("outcome"))),
            _labelled("input", turn.input),
            _labelled("output", _text(payload.get("output"))),
            _labelled("error", _failure(payload)),
        ]
        turn.text, turn.is_open = "\n".join(filter(None, lines)), False
        self._count(turn)

    # Models.

    def request(self, payload: dict[str, Any]) -> None:
        """Adds what is new in a request."""
        system = MessageItems()
        system.message({"content": payload.get("system")}, "system")
        for item in system.items:
            self._take(item, is_old=item.key in self._agent.known)
        raw = _first(payload, _BODIES)
        last = self._agent.requests[0].messages if self._agent.requests else None
        start = 0 if last is None else len(last.reader.items)
        if last is None or not last.grow(raw):
            last, start = RequestMessages(raw), 0
            last.reader.read(raw, "user")
        self._ask(last, start, b"".join(item.key for item in system.items))

    def response(self, payload: dict[str, Any]) -> None:
        """Adds an answer, unless another event had it for the same request."""
        agent, request_id = self._agent, _word(payload.get("request_id"))
        reply = agent.replies.get(request_id, set()) if request_id else set()
        if request_id:
            _keep(agent.replies, request_id, reply, _RECENT)
        reader = MessageItems()
        reader.message(payload, "assistant")
        made: list[DraftTurn] = []
        kinds = {item.kind for item in reader.items}
        for item in reader.items:
            key = item.keys()[0]
            if key not in reply:
                reply.add(key)
                made.append(self._say(item) if item.kind == "text" else self._used(item))
        self._put_first(made)
        thoughts = "\n".join(reader.thoughts)
        if thoughts and not reader.items and _digest(thoughts) not in reply:
            reply.add(_digest(thoughts))
            made.append(self._add("assistant", ""))
        if made and not made[0].is_given:
            made[0].reasoning = thoughts
        error = _failure(payload)
        if error:
            self._add("error", _error_text(payload, error))
        self._fill_place([])
        if not (made or reader.items or error):
            agent.place = self._add("", "")
            agent.place.is_open = True
        agent.is_answered = kinds == {"text"} and not error

    def _put_first(self, made: Sequence[DraftTurn]) -> None:
        """Puts the words of an answer before its calls, whose events may have come earlier."""
        first = next((turn for turn in made if turn.role == "assistant"), None)
        called = [turn for turn in made if turn.role == "tool" and not turn.is_given]
        if first is None or all(turn.number > first.number for turn in called):
            return
        self._queue.remove(first)
        self._queue.insert(min(map(self._queue.index, called)), first)

    def content(self, payload: dict[str, Any]) -> None:
        """Adds a request and its answer."""
        self.request(payload)
        self.response(payload)

    def _ask(
        self,
        messages: RequestMessages,
        start: int,
        system: bytes,
        events: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """Adds the turns of what is new in a request, whose items before `start` are not."""
        agent, items, made = self._agent, messages.reader.items, self._made
        messages.keys += [item.key for item in items[start:]]
        keys = messages.keys
        talk = [place for place in range(start, len(items)) if items[place].role != "system"]
        said = [keys[place] for place in talk]
        for place in range(start, len(items)):
            if items[place].role == "system":
                messages.system += keys[place]
        system += messages.system
        # The places that the request before had, and those behind all of them, if it had most.
        had: set[int] = set()
        if start:
            before: PriorRequest | None = agent.requests[0]
            same, behind, said = len(agent.requests[0].keys), start, agent.requests[0].keys + said
        else:
            before, matched = agent.continued(said, system)
            had.update(place for n, place in enumerate(talk) if matched[n])
            same = len(had)
            behind = max(had) + 1 if same * 2 >= len(talk) > 0 else len(items)
        # The question of the request: the texts of the user at its end.
        asks = len(items)
        while asks > start and items[asks - 1].role in ("user", "system"):
            asks -= 1
        is_whole = before is not None and before.system == system and talk and same == len(talk)
        if is_whole and not asks and agent.is_answered:
            had.discard(talk[-1])
        until = -1 if before is None else before.until
        for place in range(start, len(items)):
            item, key = items[place], keys[place]
            messages.seen[key] += 1
            count, last = agent.known.get(key, (0, 0))
            may_repeat = place >= behind or (place >= asks and item.role == "user")
            is_repeat = may_repeat and item.kind == "text" and last <= until
            is_new = place not in had and (count < messages.seen[key] or is_repeat)
            self._event = events[place] if events else self._event
            self._take(item, is_old=count > 0 if item.role == "system" else not is_new)
        if said:
            request = PriorRequest(said, system, self._made)
            agent.go_on(request, before, same)
            self._keep_messages(request, messages)
        new = [turn for turn in self._queue if turn.number > made] if agent.place else []
        self._fill_place([turn for turn in new if turn.role in ("assistant", "tool")])
        agent.is_answered = False

    def _keep_messages(self, request: PriorRequest, messages: RequestMessages) -> None:
        request.messages = messages
        self._newest.append(request)
        if len(self._newest) > _WITH_MESSAGES:
            self._newest.popleft().messages = None

    def _fill_place(self, turns: Sequence[DraftTurn]) -> None:
        """Puts turns where the answer was that has their words, and closes that place."""
        place, queue = self._agent.place, self._queue
        self._agent.place = None
        if place is None:
            return
        place.is_open = False
        if turns and not place.is_given:
            for turn in turns:
                queue.remove(turn)
            index = queue.index(place)
            for turn in reversed(turns):
                queue.insert(index, turn)

    def _take(self, item: MessageItem, *, is_old: bool) -> None:
        """Takes a part of a message of a request."""
        if item.kind == "output":
            self._put_out(item, is_old=is_old)
        elif not is_old:
            self._say(item) if item.kind == "text" else self._used(item)
        elif item.id in self._agent.calls:
            self._agent.calls[item.id].said = True

    # Tools.

    def tool_use(self, payload: dict[str, Any]) -> None:
        """Adds the use of a tool, or joins it to the call of the model."""
        agent = self._agent
        call_id, name = _word(payload.get("tool_call_id")), _word(payload.get("tool_name"))
        call = MessageItem("call", "assistant", _text(payload.get("input")), call_id, name)
        turn = agent.calls.get(call_id) or self._elsewhere(call)
        if turn is None or turn.used:
            own = call._replace(id="") if _is_made_up(call_id, payload) else call
            turn = agent.alike("used", own)
        turn = turn or self._new_call(name)
        turn.used = True
        self._join(turn, call, is_real=not _is_made_up(call_id, payload))
        agent.is_answered = False

    def tool_result(self, payload: dict[str, Any]) -> None:
        """Adds the output of a tool to its call."""
        agent = self._agent
        call_id, name = _word(payload.get("tool_call_id")), _word(payload.get("tool_name"))
        if call_id:
            turn = agent.calls.get(call_id) or self._calls.get(call_id)
        else:
            turn = agent.unanswered(name)
        if turn is not None and turn.has_result and not turn.ended:
            # A later request told the output before this event did.
            turn.ended = True
            turn.note(self._event)
            self._facts(turn, payload)
            return
        if turn is None or turn.ended or turn.is_given:
            turn = self._new_call(name)
            call = MessageItem("call", "assistant", "", call_id, name)
            self._join(turn, call, is_real=not _is_made_up(call_id, payload))
        turn.ended = turn.used = True
        turn.note(self._event)
        self._facts(turn, payload)
        if payload.get("output") is not None or turn.text:
            self._fill(turn, _text(payload.get("output")))
        agent.is_answered = False

    def _facts(self, turn: DraftTurn, payload: dict[str, Any]) -> None:
        tool = turn.tool
        if tool is None or turn.is_given:
            return
        turn.text = turn.text or _failure(payload)
        failed = bool(turn.text) or _word(payload.get("outcome")).lower() in _FAILURES
        tool["failed"] = tool["failed"] or failed
        tool["duration_ms"] = _whole(payload.get("duration_ms"))
        self._count(turn)

    def _new_call(self, name: str) -> DraftTurn:
        turn = self._add("tool", "")
        turn.is_open = True
        turn.tool = {
            "name": name,
            "call_id": "",
            "input": "",
            "output": "",
            "failed": False,
            "duration_ms": None,
        }
        self._agent.recent.append(turn)
        return turn

    def _elsewhere(self, call: MessageItem) -> DraftTurn | None:
        """Returns the same call of another agent, whose tools this one runs."""
        turn = self._calls.get(call.id)
        return turn if turn is not None and call.keys()[-1] in turn.keys else None

    def _used(self, call: MessageItem) -> DraftTurn:
        """Takes a call that a message has, which may have become a turn already."""
        agent = self._agent
        turn = agent.calls.get(call.id) or self._elsewhere(call)
        if turn is None:
            turn = agent.alike("said", call)
        if turn is None or turn.said:
            turn = self._new_call(call.name)
        turn.said = True
        self._join(turn, call, is_real=bool(call.id))
        return turn

    def _join(self, turn: DraftTurn, call: MessageItem, *, is_real: bool) -> None:
        """Adds what a message or an event tells of a call."""
        turn.note(self._event)
        tool = turn.tool or {}
        if not turn.is_given:
            turn.input = turn.input or call.text
            tool["name"] = tool["name"] or call.name
            if is_real and not turn.real_id:
                tool["call_id"] = call.id
        tool["call_id"] = tool["call_id"] or call.id
        turn.real_id = turn.real_id or (call.id if is_real else "")
        if call.id and call.id not in turn.ids:
            turn.ids.append(call.id)
        if call.id:
            _keep(self._agent.calls, call.id, turn, _REMEMBERED)
            _keep(self._calls, call.id, turn, _REMEMBERED)
        keys = [*call.keys()]
        if turn.has_result and call.id:
            keys.append(_digest("output", call.id))
        self._learn(turn, keys)
        self._count(turn)

    def _learn(self, turn: DraftTurn, keys: Iterable[bytes]) -> None:
        """Makes a call known to the agent that made it, and to the one that runs its tool."""
        new = [key for key in keys if key not in turn.keys]
        turn.keys.update(new)
        for agent_id in {turn.agent_id, self._agent.agent_id}:
            self._agents[agent_id].learn(new, self._made)

    def _put_out(self, item: MessageItem, *, is_old: bool) -> None:
        """Takes the output of a tool that a message has."""
        agent = self._agent
        turn = agent.calls.get(item.id) if item.id else None
        if turn is None and not item.id and not is_old:
            turn = agent.unanswered(item.name)
        if turn is not None and not turn.has_result and not turn.is_given:
            turn.note(self._event)
        elif is_old:
            return
        else:
            turn = self._new_call(item.name)
            turn.said = turn.used = True
            self._join(turn, MessageItem("call", "assistant", "", item.id, item.name), is_real=True)
        if turn.tool is not None:
            turn.tool["failed"] = turn.tool["failed"] or item.failed
        self._fill(turn, item.text)

    def _fill(self, turn: DraftTurn, output: str) -> None:
        turn.output, turn.has_result, turn.is_open = output, True, False
        keys = [_digest("output", one) for one in turn.ids]
        self._learn(turn, [*keys, *MessageItem("output", "tool", output).keys()])
        self._count(turn)


_Handler = Callable[[SessionReader, dict[str, Any]], None]
# The reader of each type of events. Others are messages if they have a role.
_HANDLERS: dict[str, _Handler] = {
    "agent_start": SessionReader.agent_start,
    "agent_end": SessionReader.agent_end,
    "error": SessionReader.error,
    "context_compacted": SessionReader.compacted,
    "human_wait": SessionReader.human_wait,
    "human_input": SessionReader.human_input,
    "hook_triggered": SessionReader.hook_triggered,
    "hook_completed": SessionReader.hook_completed,
    "model_request": SessionReader.request,
    "model_response": SessionReader.response,
    "model_message": SessionReader.response,
    "model_content": SessionReader.content,
    "tool_use": SessionReader.tool_use,
    "tool_result": SessionReader.tool_result,
}


def _same_order(old: Sequence[bytes], new: Sequence[bytes]) -> list[bool]:
    """Returns which of the new keys are among the old ones, in the same order."""
    same = 0
    while same < len(old) and same < len(new) and old[same] == new[same]:
        same += 1
    found = [True] * same + [False] * (len(new) - same)
    if same in (len(old), len(new)):
        return found
    places: dict[bytes, list[int]] = {}
    for place in range(same, len(old)):
        places.setdefault(old[place], []).append(place)
    last = same - 1
    for n in range(same, len(new)):
        where = places.get(new[n], [])
        index = bisect_right(where, last)
        if index < len(where):
            found[n], last = True, where[index]
    return found


def _keep(known: dict[Any, Any], key: Any, value: Any, most: int) -> None:
    """Remembers a value, and forgets the oldest one if there are too many."""
    known[key] = value
    if len(known) > most:
        del known[next(iter(known))]


def _digest(*parts: str) -> bytes:
    data = "\0".join(parts).encode("utf-8", "surrogatepass")
    return blake2b(data, digest_size=16).digest()


def _first(raw: Mapping[str, Any], names: Iterable[str]) -> Any:
    """Returns the first member that is there and not null."""
    return next((raw[name] for name in names if raw.get(name) is not None), None)


def _word(value: Any) -> str:
    """Returns a text or a number as a text, and "" for anything else."""
    if isinstance(value, str):
        return _clean(value)
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def _whole(value: Any) -> int | None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return int(value) if is_number and 0 <= value < 2**53 else None


def _joined(separator: str, first: str, second: str) -> str:
    return f"{first}{separator}{second}" if first and second else first or second


def _labelled(label: str, text: str) -> str:
    return f"{label}: {text}" if text else ""


def _failure(payload: Mapping[str, Any]) -> str:
    """Returns the error of an event, "" if it has none."""
    error = payload.get("error")
    return "" if error is False else "error" if error is True else _text(error)


def _error_text(payload: Mapping[str, Any], message: str) -> str:
    kind, message = _word(payload.get("error_type")), message or _failure(payload)
    return message if kind and message.startswith(kind) else _joined(": ", kind, message)


def _is_made_up(call_id: str, payload: Mapping[str, Any]) -> bool:
    """Returns whether the id of a call is that of its span, which no model knows."""
    otel = payload.get("otel")
    return isinstance(otel, dict) and call_id == otel.get("span_id")


def _clean(text: str) -> str:
    """Returns a text without halves of surrogate pairs, which UTF-8 cannot have."""
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")


def _json(value: Any) -> str:
    try:
        return _clean(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
    except (RecursionError, ValueError):
        return ""


def _decoded(value: Any) -> Any:
    """Returns the value of JSON text of an object or an array; anything else as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (RecursionError, ValueError):
            return value
    return value


def _canonical(text: str) -> str:
    """Returns one text for all ways to write the same JSON."""
    value = _decoded(text)
    if isinstance(value, str):
        return value.strip()
    try:
        return json.dumps(value, sort_keys=True)
    except (RecursionError, ValueError):
        return text


def _text(value: Any) -> str:
    """Returns a text as it is, parts of texts joined by line breaks, and other values as JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return _clean(value)
    parts = value if isinstance(value, list) else [value]
    if parts and all(_is_shown(part) for part in parts):
        return "\n".join(map(_part_text, parts))
    return _json(value)


def _is_shown(part: Any) -> bool:
    kind, inner = _kind_of(part)
    is_text = kind in _TEXT_TYPES and isinstance(_first(inner, _TEXT), str)
    return isinstance(part, dict) and (is_text or kind in _MEDIA_TYPES)


def _part_text(part: Any) -> str:
    kind, inner = _kind_of(part)
    text = _first(inner, _TEXT)
    if kind in _TEXT_TYPES and isinstance(text, str):
        return _clean(text)
    if kind in _MEDIA_TYPES:
        return f"[{kind}]"
    return _clean(part) if isinstance(part, str) else _json(part)


def _kind_of(part: Any) -> tuple[str, dict[str, Any]]:
    """Returns the type of a part, "" if it has none, and the part without its wrapper."""
    if not isinstance(part, dict):
        return "", {}
    if isinstance(part.get("type"), str):
        return part["type"], part
    for member, meant in _UNTYPED.items():
        if isinstance(part.get(member), dict):
            return meant, part[member]
    if isinstance(part.get("message_content"), dict):
        return _kind_of(part["message_content"])
    if "toolCallId" in part:
        return ("tool-result" if "result" in part or "output" in part else "tool-call"), part
    return ("text" if "text" in part else ""), part


def _is_part(raw: Mapping[str, Any]) -> bool:
    """Returns whether an object among messages is a part of one, as in OpenAI's Responses."""
    kind = _kind_of(raw)[0]
    if "role" in raw or (kind == "function" and "content" in raw):
        return False
    return kind in _CALL_TYPES or kind in _RESULT_TYPES or kind in _THOUGHT_TYPES


def _has_results(content: Any) -> bool:
    parts = content if isinstance(content, list) else [content]
    return any(_kind_of(part)[0] in _RESULT_TYPES for part in parts)


def _add_call(calls: list[MessageItem], raw: Any) -> None:
    """Adds a call, unless it is there already."""
    raw = _decoded(raw)
    if not isinstance(raw, dict):
        return
    raw = raw["tool_call"] if isinstance(raw.get("tool_call"), dict) else raw
    named = raw["function"] if isinstance(raw.get("function"), dict) else raw
    call_id, name = _word(_first(raw, _CALL_ID)), _word(_first(named, _NAME))
    if not (call_id or name) or (call_id and any(call.id == call_id for call in calls)):
        return
    arguments = _first(named, _ARGUMENTS)
    text = (
        arguments if isinstance(arguments, str) else "" if arguments is None else _json(arguments)
    )
    calls.append(MessageItem("call", "assistant", _clean(text), call_id, name))


def _unwrapped(raw: dict[str, Any]) -> dict[str, Any]:
    """Returns a message without what LangChain, OpenInference and choices wrap it in."""
    for name in _WRAPPERS:
        inner = raw.get(name)
        if isinstance(inner, dict) and "content" not in raw and "parts" not in raw:
            names = raw.get("id")
            named = raw.get("role") or raw.get("type")
            if isinstance(names, list) and names:
                named = str(names[-1]).replace("Chunk", "")
            raw = inner if "role" in inner or "type" in inner else {**inner, "role": named}
    return raw


def _role_of(raw: Mapping[str, Any], role: str) -> str:
    """Returns the role of a message: the one that it names in its own way, else `role`."""
    named = _word(raw.get("role")).lower()
    if named:
        return _ROLES.get(named, "user")
    return _ROLES.get(_word(raw.get("type")).lower(), role)


def _messages_in(text: str) -> Any:
    """Returns the messages in JSON text, and any other text as it is."""
    value = _decoded(text)
    parts = value if isinstance(value, list) else [value]
    if all(isinstance(part, dict) and ("role" in part or "messages" in part) for part in parts):
        return value
    return text
