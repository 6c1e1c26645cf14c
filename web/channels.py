"""The channels of alerts and audits, in requests and answers."""

from shared.watch.incidents.channels import SHAPES
from web import shapes

CHANNEL = shapes.tagged("Channel", "kind", SHAPES)
