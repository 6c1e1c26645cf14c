"""The answer of the route of budgets."""

from typing import get_args

from marshmallow import Schema

from shared.watch.alerts.specs import PeriodKind
from shared.watch.budgets.listing import MOST_GROUPS
from web import fields
from web.budgets.fields import group_field, level_field


class BudgetRow(Schema):
    """The spending of a group of a budget in the running period, in dollars."""

    alert_id = fields.uuid()
    name = fields.text("of the alert")
    enabled = fields.flag("false: it is not evaluated, and tells nothing")
    period = fields.text(enum=list(get_args(PeriodKind)))
    starts_at = fields.moment()
    ends_at = fields.moment()
    amount_usd = fields.number()
    group = group_field("null: all calls of the budget together")
    spent_usd = fields.number("a lower bound if there are `unpriced_calls`")
    share = fields.number("of the amount that is spent; 1: all of it")
    level = level_field("the last one of the period that was announced")
    forecast_usd = fields.number(
        "spending at the end of the period, at the rate of the last 3 hours (day), 2 days (week) or"
        " 7 days (month); null while less than half of that has data",
        null=True,
    )
    exhausted_at = fields.moment(
        "when the amount will be spent at this rate; null: not before the end, or it is already",
        null=True,
    )
    unpriced_calls = fields.integer()
    incident_id = fields.uuid("its open incident", null=True)


class Budgets(Schema):
    """The budgets of an organization."""

    budgets = fields.rows(
        BudgetRow, f"the highest share first; of an alert the {MOST_GROUPS} highest groups"
    )
