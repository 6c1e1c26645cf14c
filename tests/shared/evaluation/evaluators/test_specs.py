"""The specs of each kind: defaults, bounds, and what readers see of them."""

from typing import Any

import pytest

from shared.evaluation.evaluators.declarations import parse
from shared.evaluation.evaluators.specs import (
    KINDS,
    PERMISSION_OF,
    origin,
    parse_spec,
    require_results,
    shown,
)
from shared.foundation.core.config import Settings
from shared.foundation.core.errors import Invalid

SETTINGS = Settings(
    database_url="postgresql://localhost/none",
    redis_url="redis://localhost",
    clickhouse_url="clickhouse://localhost/none",
)
WITH_JUDGE = Settings(
    database_url="postgresql://localhost/none",
    redis_url="redis://localhost",
    clickhouse_url="clickhouse://localhost/none",
    judge_base_url="https://models.example.com/v1",
    judge_models="small, large",
)
URL = "https://evaluators.example.com/base?team=a"
JUDGE = {"base_url": URL, "model": "m", "criteria": "Was the refund right?"}
DEFAULTS = {
    "instructions": None,
    "max_input_tokens": 24_000,
    "max_output_tokens": 1024,
    "show": {"tools": True, "system": False, "reasoning": False},
    "usd_per_mtok": None,
}


@pytest.mark.parametrize(
    ("kind", "given", "spec"),
    [
        ("push", {"url": URL}, {"url": URL, "headers": {}}),
        (
            "push",
            {"url": URL, "headers": {"X-Team": "a b", "cookie": "c=1"}, "unknown": 1},
            {"url": URL, "headers": {"X-Team": "a b", "cookie": "c=1"}},
        ),
        ("push", {"url": URL, "headers": None}, {"url": URL, "headers": {}}),
        ("pull", {}, {}),
        ("pull", None, {}),
        ("sql", {"sql": "SELECT session_id FROM events"}, {"sql": "SELECT session_id FROM events"}),
        ("judge", JUDGE, {**JUDGE, **DEFAULTS}),
        (
            "judge",
            {
                **JUDGE,
                "instructions": " ",
                "max_input_tokens": 500.0,
                "show": {"system": True, "other": 1},
                "usd_per_mtok": {"input": 0.15, "output": 1.0},
            },
            {
                **JUDGE,
                **DEFAULTS,
                "max_input_tokens": 500,
                "show": {"tools": True, "system": True, "reasoning": False},
                "usd_per_mtok": {"input": 0.15, "output": 1},
            },
        ),
    ],
)
def test_specs_get_their_defaults(kind: str, given: object, spec: dict[str, Any]) -> None:
    assert parse_spec(kind, given, SETTINGS) == spec
    assert parse_spec(kind, spec, SETTINGS) == spec


@pytest.mark.parametrize(
    ("kind", "given", "name"),
    [
        *((kind, [], "") for kind in KINDS),
        *((kind, None, "") for kind in KINDS if kind != "pull"),
        ("push", {}, ".url"),
        ("push", {"url": "http://10.0.0.1/"}, ".url"),
        ("push", {"url": URL, "headers": []}, ".headers"),
        ("push", {"url": URL, "headers": {"a b": "1"}}, ".headers"),
        ("push", {"url": URL, "headers": {"": "1"}}, ".headers"),
        ("push", {"url": URL, "headers": {f"x-{n}": "1" for n in range(21)}}, ".headers"),
        ("push", {"url": URL, "headers": {"X-A": "1", "x-a": "2"}}, ".headers.x-a"),
        ("push", {"url": URL, "headers": {"X-A": ""}}, ".headers.X-A"),
        ("push", {"url": URL, "headers": {"X-A": "a\r\nHost: b"}}, ".headers.X-A"),
        ("push", {"url": URL, "headers": {"X-A": "ö"}}, ".headers.X-A"),
        ("push", {"url": URL, "headers": {"X-A": None}}, ".headers.X-A"),
        ("push", {"url": URL, "headers": {"X-A": "v" * 4097}}, ".headers.X-A"),
        *(
            ("push", {"url": URL, "headers": {name: "1"}}, f".headers.{name}")
            for name in (
                *("Host", "AUTHORIZATION", "Content-Type", "content-length", "Connection"),
                *("Keep-Alive", "Proxy-Authorization", "TE", "Trailer", "Transfer-Encoding"),
                *("Upgrade", "Idempotency-Key", "X-Watchpost-Evaluator"),
            )
        ),
        ("sql", {}, ".sql"),
        ("sql", {"sql": " \n"}, ".sql"),
        ("sql", {"sql": 5}, ".sql"),
        ("judge", {**JUDGE, "base_url": "http://127.0.0.1"}, ".base_url"),
        ("judge", {**JUDGE, "base_url": None}, ".base_url"),
        ("judge", {**JUDGE, "model": None}, ".model"),
        ("judge", {**JUDGE, "model": " "}, ".model"),
        ("judge", {**JUDGE, "model": "m" * 201}, ".model"),
        ("judge", {**JUDGE, "criteria": None}, ".criteria"),
        ("judge", {**JUDGE, "criteria": "\n"}, ".criteria"),
        ("judge", {**JUDGE, "criteria": "ö" * 4097}, ".criteria"),
        ("judge", {**JUDGE, "criteria": "a\0"}, ".criteria"),
        ("judge", {**JUDGE, "instructions": "i" * 8193}, ".instructions"),
        ("judge", {**JUDGE, "instructions": 5}, ".instructions"),
        ("judge", {**JUDGE, "max_input_tokens": 499}, ".max_input_tokens"),
        ("judge", {**JUDGE, "max_input_tokens": 600.5}, ".max_input_tokens"),
        ("judge", {**JUDGE, "max_output_tokens": True}, ".max_output_tokens"),
        ("judge", {**JUDGE, "max_output_tokens": 100_001}, ".max_output_tokens"),
        ("judge", {**JUDGE, "show": []}, ".show"),
        ("judge", {**JUDGE, "show": {"tools": 1}}, ".show.tools"),
        ("judge", {**JUDGE, "usd_per_mtok": {"input": 1}}, ".usd_per_mtok.output"),
        ("judge", {**JUDGE, "usd_per_mtok": {"input": -1, "output": 1}}, ".usd_per_mtok.input"),
    ],
)
def test_a_bad_spec_names_its_field(kind: str, given: object, name: str) -> None:
    with pytest.raises(Invalid) as refused:
        parse_spec(kind, given, SETTINGS)
    assert list(refused.value.fields) == [f"spec{name}"]


def test_a_judge_without_a_server_uses_a_model_of_the_deployment() -> None:
    spec = parse_spec("judge", {**JUDGE, "base_url": None, "model": "large"}, WITH_JUDGE)
    assert (spec["base_url"], spec["model"]) == (None, "large")
    with pytest.raises(Invalid, match="small, large"):
        parse_spec("judge", {**JUDGE, "base_url": None, "model": "huge"}, WITH_JUDGE)
    assert parse_spec("judge", {**JUDGE, "model": "huge"}, WITH_JUDGE)["model"] == "huge"


def test_private_addresses_are_published_where_the_operator_allows_them() -> None:
    settings = Settings(
        database_url=SETTINGS.database_url,
        redis_url=SETTINGS.redis_url,
        clickhouse_url=SETTINGS.clickhouse_url,
        evaluator_allow_private="10.0.0.0/8",
    )
    assert parse_spec("push", {"url": "http://10.0.0.1"}, settings)["url"] == "http://10.0.0.1"
    with pytest.raises(Invalid):
        parse_spec("push", {"url": "http://192.168.0.1"}, settings)


@pytest.mark.parametrize(("kind", "most"), [("push", 2), ("pull", 2), ("sql", 2), ("judge", 1)])
def test_how_many_results_a_kind_declares(kind: str, most: int) -> None:
    declared = parse([{"key": str(n), "kind": "score"} for n in range(2)])
    require_results(kind, declared[:1])
    for wrong in (declared[:0], declared):
        if (kind in ("sql", "judge") and not wrong) or len(wrong) > most:
            with pytest.raises(Invalid):
                require_results(kind, wrong)
        else:
            require_results(kind, wrong)


def test_a_spec_shows_its_origins_and_the_names_of_its_headers() -> None:
    push = parse_spec("push", {"url": URL, "headers": {"X-Team": "a"}}, SETTINGS)
    assert shown(push, in_full=True) == push
    masked = shown(push, in_full=False)
    assert masked == {"url": "https://evaluators.example.com/…", "headers": {"X-Team": None}}
    judge = parse_spec("judge", JUDGE, SETTINGS)
    assert shown(judge, in_full=False) == {**judge, "base_url": masked["url"]}
    own = parse_spec("judge", {**JUDGE, "base_url": None, "model": "small"}, WITH_JUDGE)
    assert shown(own, in_full=False) == own


def test_the_origin_of_a_spec() -> None:
    assert origin("push", {"url": URL, "headers": {}}) == "https://evaluators.example.com"
    assert origin("judge", JUDGE) == "https://evaluators.example.com"
    for kind in ("judge", "sql", "pull"):
        assert origin(kind, {"base_url": None}) is None


def test_who_configures_what() -> None:
    assert PERMISSION_OF.keys() == set(KINDS)
