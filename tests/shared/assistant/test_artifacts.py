"""Drafts of alerts: what may be drafted is what POST /alerts takes."""

from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from shared.assistant.artifacts import DRAFTS
from shared.assistant.asker import Asker
from shared.foundation.core.errors import Invalid
from tests.support.alerts import SPECS

DRAFT = DRAFTS["draft_alert"]


def draft(kind: str, spec: dict[str, Any]) -> Any:
    asker = SimpleNamespace(queries=SimpleNamespace(schema="x"), require=lambda _permission: None)
    wanted = {"name": "a", "trigger_kind": kind, "trigger_spec": spec}
    return DRAFT.call(cast("Asker", asker), msgspec.json.encode(wanted)).value


@pytest.mark.parametrize("kind", SPECS)
def test_a_draft_of_each_kind_is_the_body_of_a_request(kind: str) -> None:
    made = draft(kind, SPECS[kind])
    assert made["route"] == "POST /alerts"
    assert made["body"]["trigger_spec"] == SPECS[kind]


def test_a_draft_that_could_not_be_saved_names_the_field() -> None:
    with pytest.raises(Invalid) as refused:
        draft("budget", {**SPECS["budget"], "levels": [80, 50]})
    assert list(refused.value.fields) == ["trigger_spec.levels"]


@pytest.mark.parametrize("word", ["budget", "group_by", "cost_sum", "attr.<key>"])
def test_the_model_is_told_what_a_spec_may_contain(word: str) -> None:
    assert word in DRAFT.description
