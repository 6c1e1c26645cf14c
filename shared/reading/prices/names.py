"""Names of providers and service tiers, as calls and prices spell them."""

MAX_TIER_LENGTH = 32
MAX_PROVIDER_LENGTH = 64

# The names of no tier at all.
_STANDARD = frozenset({"", "standard", "default", "auto", "normal"})
# Further names of a provider, most of them those of OpenTelemetry.
_ALIASES = {
    "aws.bedrock": "bedrock",
    "azure.ai.inference": "azure",
    "azure.ai.openai": "azure",
    "gcp.gemini": "google",
    "gcp.gen_ai": "google",
    "gcp.vertex_ai": "google",
    "mistral_ai": "mistral",
    "x_ai": "x-ai",
    "xai": "x-ai",
}


def tier_of(value: object) -> str | None:
    """Returns a service tier in lower case; None for the standard one and for no tier."""
    if not isinstance(value, str) or len(value) > MAX_TIER_LENGTH or not value.isprintable():
        return None
    tier = value.strip().lower()
    return None if tier in _STANDARD else tier


def provider_of(value: str | None) -> str | None:
    """Returns the one name of a provider, in lower case; None for none."""
    if value is None:
        return None
    name = value.strip().lower()
    return _ALIASES.get(name, name) or None
