"""Groups of events: one type each, grouped by a column, such as the results of tools by tool."""

from dataclasses import dataclass

from shared.foundation.clickhouse import literals
from shared.foundation.clickhouse.where import Where
from shared.reading.events import families
from shared.watch.audits.signals.interface import Look


@dataclass(frozen=True)
class GroupedEvents:
    """Events of one type, grouped by a column, with words for them."""

    event_type: str
    column: str
    noun: str
    unit: str = "call"
    verb: str = "fails more often"

    def group(self, name: str) -> str:
        """Returns the unique name of a group: its event type and name."""
        return f"{self.event_type}\0{name}"

    def where(self, look: Look, name: str) -> Where:
        """Returns the conditions of the events of a group in the audit's window."""
        return look.where().add(
            f"event_type = {{event_type:String}} AND {self.column} = {{name:String}}",
            event_type=self.event_type,
            name=name,
        )

    def condition(self, name: str) -> str:
        """Returns the condition of a group in literals, for an evidence query."""
        return f"event_type = '{self.event_type}' AND {literals.is_text(self.column, name)}"


# The ends of the calls that can fail, by the family's noun.
ENDS = {
    one.noun: GroupedEvents(one.end, one.group, one.noun, one.unit)
    for one in families.FAMILIES
    if one.unit
}
TOOLS, MODELS = (ENDS[one.noun] for one in (families.TOOL, families.MODEL))
