"""A client of an OpenAI-compatible server, which may hang, drip or flood."""

from collections.abc import Sequence

import aiohttp
import msgspec

from shared.foundation.core.config import Settings
from shared.watch.audits.runs.report import ModelMessage, ReportFailed
from workers.call_loop import CallLoop
from workers.http import Request, answer_to, bearer, read_bounded

TIMEOUT_SECS = 60.0
MAX_ANSWER_BYTES = 1024 * 1024


class _Part(msgspec.Struct):
    text: str = ""


class _MessageContent(msgspec.Struct):
    """The content of a model's message: a text, or its parts."""

    content: str | list[_Part] | None = None


class _CompletionChoice(msgspec.Struct):
    message: _MessageContent


class _Completion(msgspec.Struct):
    choices: list[_CompletionChoice]


class LanguageModel:
    """The server of AUDIT_LLM_BASE_URL; thread-safe, and a `report.Ask`."""

    def __init__(self, settings: Settings, *, timeout_secs: float = TIMEOUT_SECS) -> None:
        if settings.audit_llm_base_url is None or settings.audit_llm_model is None:
            raise ValueError("AUDIT_LLM_BASE_URL is not set")
        self._url = f"{settings.audit_llm_base_url.rstrip('/')}/chat/completions"
        self._model = settings.audit_llm_model
        self._key = settings.audit_llm_api_key
        self._timeout = timeout_secs
        self._loop = CallLoop("language-model")

    def __call__(self, messages: Sequence[ModelMessage]) -> str:
        """Returns the text of the model's answer.

        Raises `ReportFailed` if there is none in time.
        """
        body = self._answer_to(self._request(messages))
        # Some servers quote the request, and people see the answer.
        return _text_of(body).replace(self._key, "[hidden]") if self._key else _text_of(body)

    def close(self) -> None:
        """Stops the event loop."""
        self._loop.close()

    def _request(self, messages: Sequence[ModelMessage]) -> Request:
        body = {
            "model": self._model,
            "messages": [{"role": one.role, "content": one.content} for one in messages],
            "temperature": 0,
            "response_format": {"type": "json_object"},
        }
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        return Request("POST", self._url, headers | bearer(self._key), msgspec.json.encode(body))

    def _answer_to(self, request: Request) -> bytes:
        try:
            return self._loop.within(self._timeout, _exchange(request))
        except TimeoutError:
            reason = f"the language model gave no answer within {self._timeout:g} s"
            raise ReportFailed(reason) from None
        except aiohttp.ClientConnectorError:
            raise ReportFailed("the language model could not be reached") from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            # Leaves out the error's text, because addresses and headers must not become visible.
            reason = f"the connection to the language model broke ({type(error).__name__})"
            raise ReportFailed(reason) from None


async def _exchange(request: Request) -> bytes:
    async with answer_to(request) as response:
        if response.status != 200:
            raise ReportFailed(f"the language model answered with status {response.status}")
        body = await read_bounded(response, MAX_ANSWER_BYTES)
    if body is None:
        raise ReportFailed(f"the language model's answer has more than {MAX_ANSWER_BYTES} bytes")
    return body


def _text_of(body: bytes) -> str:
    try:
        choices = msgspec.json.decode(body, type=_Completion).choices
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise ReportFailed("the language model's answer is not a chat completion") from None
    content = choices[0].message.content if choices else None
    if isinstance(content, list):
        content = "".join(part.text for part in content)
    if not content:
        raise ReportFailed("the language model's answer is empty")
    return content
