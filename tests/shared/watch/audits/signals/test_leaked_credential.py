"""Credentials in payloads. All of them are made up."""

import json
from dataclasses import replace

import pytest

from shared.foundation.clickhouse import ClickHouse
from shared.reading.queries.run import QueryRunner
from shared.watch.audits.signals.credentials import PATTERNS
from shared.watch.audits.signals.interface import Look
from shared.watch.audits.signals.leaked_credential import find
from tests.support.events import event
from tests.support.looks import found_by, ingest, look_at, nested, require_reproduced
from tests.support.runtime import Org

# In pieces, so that no scanner takes this file for a leak.
_RANDOM = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0"
_JWT = "eyJ" + "hbGciOiJIUzI1NiJ9.eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0." + _RANDOM[:30]
_KEY = "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEpAIBAAKCAQEA" + _RANDOM + "\n-----END"
LEAKS = {
    "AWS access key": "AKIA" + "Q3EGTR7ZK2XAMPL5",
    "AWS temporary access key": "ASIA" + "Q3EGTR7ZK2XAMPL5",
    "AWS secret key": "aws_secret_access_key = " + _RANDOM,
    "GitHub token": "ghp_" + _RANDOM[:36],
    "GitHub fine-grained token": "github_pat_" + _RANDOM[:22] + "_" + _RANDOM,
    "GitLab token": "glpat-" + _RANDOM[:20],
    "Slack token": "xoxb-" + "123456789012-" + _RANDOM[:24],
    "Slack webhook": "https://hooks.slack.com/services/" + "T0A1B2C3D/B0A1B2C3D/" + _RANDOM[:24],
    "Stripe key": "sk_live_" + _RANDOM[:24],
    "Stripe restricted key": "rk_live_" + _RANDOM[:24],
    "Anthropic key": "sk-ant-" + "api03-" + _RANDOM,
    "OpenAI key": "sk-proj-" + _RANDOM,
    "Google API key": "AIza" + _RANDOM[:35],
    "Google token": "ya29." + _RANDOM,
    "private key": _KEY,
    "JSON web token": _JWT,
    "bearer token": "Authorization: Bearer " + _RANDOM,
    "password": "postgres password=hunter2 host=db",
}
# Unusual spellings and surroundings.
UNUSUAL = {
    "AWS access key": ["AKIA" + "QTEGTRSZKWXAMPLV"],
    "password": ["Pwd=S3cretPass99", "password    = hunter2x9", "passWord' : 'hunter2x9'"],
    "AWS secret key": [f"secretaccesskey = {_RANDOM}", f"Secret_AccessKey: {_RANDOM}"],
    "OpenAI key": [f"**sk-{_RANDOM}**", f"“sk-{_RANDOM}”", f"{{sk-{_RANDOM}}}"],
    "bearer token": [f"beArer {_RANDOM}"],
}
# Prefixes of many credentials, without a credential.
_AROUND = "ghp_ xox AKIA k_live_ eyJ ya29. earer assword= PWD= -sk- 'sk- glpat-"
HARMLESS = [
    "the risk-assessment task-1234567890abcdef1234567890 of disk-0",
    "a style sk-fading-circle-container-element-12",
    "Password: required, at least 8 characters; the password is wrong",
    "PWD=/srv/user1/project pwd: ../x1",
    'password: "${DB_PASSWORD_1}" password=<redacted1> password=[secret1] password: ********1',
    "password=xxxxxxxx1",
    "AKIA" + "X" * 16,
    '{"properties":{"password":{"type":"string","minLength":8}}}',
    "Bearer authentication is needed, Bearer tokens are short",
    "begins with -----BEGIN PRIVATE KEY----- and ends with -----END PRIVATE KEY-----",
    "AKIA and ASIA begin keys, ghp_ tokens, AIza keys, glpat- and xoxb- too",
    "eyJhbGciOiJIUzI1NiJ9 alone is half of it",
    "sk-ant-… sk-… sk_live_… secret_access_key=…",
]


SHOWN = {pattern.kind: pattern.shown for pattern in PATTERNS}


def leak(text: str, session: str = "s", at: str = "10:00:00", **fields: object) -> bytes:
    """Returns a tool's result with a text in it."""
    return event(session, at, "tool_result", **{"tool_name": "t", "output": text, **fields})


def test_the_recording_leaks_nothing(airline_look: Look) -> None:
    assert find(replace(airline_look, sensitivity="high")) == []


def test_there_is_a_case_for_each_pattern() -> None:
    assert set(LEAKS) == {pattern.kind for pattern in PATTERNS}


def test_each_kind_is_found_and_never_quoted(
    clickhouse: ClickHouse, org: Org, runner: QueryRunner
) -> None:
    for number, (kind, text) in enumerate(LEAKS.items()):
        # Plain, and in JSON within JSON.
        ingest(clickhouse, org.id, [leak(text, tool_name=kind)])
        nested_once = json.dumps({"text": f"first\n{text}"})
        ingest(clickhouse, org.id, [leak(nested_once, f"n{number}", tool_name=kind)])
    look = look_at(clickhouse, org.id)
    found = found_by(find, look)
    assert set(found) == {(kind, "tool_result", kind) for kind in LEAKS}
    for (kind, _, _), candidate in found.items():
        assert candidate.numbers == {"events": 2, "sessions": 2, "secrets": 1}
        assert (candidate.kind, candidate.severity) == ("policy", "critical")
        begins = f" ({SHOWN[kind]}…)" if SHOWN[kind] else ""
        assert candidate.title == f"{kind}{begins} in tool_result of {kind}"
        assert ("beginning with" in candidate.description) is bool(begins)
        told = repr(candidate)
        secret = "hunter2" if kind == "password" else LEAKS[kind].removesuffix("\n-----END")[-12:]
        assert not any(secret[start : start + 5] in told for start in range(len(secret) - 4))
    # The kinds with the most quotes and the longest statement.
    for kind in ("private key", "Anthropic key", "password"):
        require_reproduced(runner, look, found[kind, "tool_result", kind])


@pytest.mark.parametrize("kind", UNUSUAL)
def test_however_it_is_spelled_it_is_found_whatever_else_is_there(
    clickhouse: ClickHouse, org: Org, runner: QueryRunner, kind: str
) -> None:
    for number, text in enumerate(UNUSUAL[kind]):
        alone = leak(text, tool_name=f"alone {number}")
        not_alone = leak(f"{_AROUND} {text}", tool_name=f"not {number}")
        ingest(clickhouse, org.id, [alone, not_alone])
    look = look_at(clickhouse, org.id)
    found = found_by(find, look)
    assert {key[2] for key in found if key[0] == kind} == {
        f"{place} {number}" for place in ("alone", "not") for number in range(len(UNUSUAL[kind]))
    }
    for candidate in found.values():
        assert candidate.numbers["events"] == 1
        require_reproduced(runner, look, candidate)


@pytest.mark.parametrize("text", HARMLESS)
def test_lookalikes_are_not_found(clickhouse: ClickHouse, org: Org, text: str) -> None:
    ingest(clickhouse, org.id, [leak(text), leak(json.dumps({"x": text}))])
    assert find(look_at(clickhouse, org.id, sensitivity="high")) == []


def test_events_sessions_and_different_secrets_are_counted(
    clickhouse: ClickHouse, org: Org, runner: QueryRunner
) -> None:
    one, other = "ghp_" + _RANDOM[:36], "ghp_" + _RANDOM[2:38]
    lines = [
        leak(f"{one} and {one} and {other}", "a"),
        leak(one, "a", "10:00:01"),
        leak(one, "b", "10:00:02"),
        leak(one, "c", tool_name="other"),
        event("d", "10:00:00", "model_request", messages=[{"content": f"use {one}"}]),
    ]
    ingest(clickhouse, org.id, lines)
    look = look_at(clickhouse, org.id)
    found = found_by(find, look)
    assert {key[1:]: tuple(one.numbers.values()) for key, one in found.items()} == {
        ("tool_result", "t"): (3, 2, 2),
        ("tool_result", "other"): (1, 1, 1),
        ("model_request", ""): (1, 1, 1),
    }
    for candidate in found.values():
        require_reproduced(runner, look, candidate)


def test_a_header_with_a_known_token_is_that_token(clickhouse: ClickHouse, org: Org) -> None:
    ingest(clickhouse, org.id, [leak(f"Authorization: Bearer {_JWT}")])
    assert {key[0] for key in found_by(find, look_at(clickhouse, org.id))} == {"JSON web token"}


def test_low_sensitivity_leaves_out_what_only_its_surroundings_tell(
    clickhouse: ClickHouse, org: Org
) -> None:
    for kind, text in LEAKS.items():
        ingest(clickhouse, org.id, [leak(text, tool_name=kind)])
    low, medium, high = nested(find, look_at(clickhouse, org.id))
    assert {key[0] for key in medium - low} == {"bearer token", "password"}
    assert high == medium
