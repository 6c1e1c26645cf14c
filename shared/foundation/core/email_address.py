"""E-mail addresses in the one form that accounts, memberships and mails use."""

import email_validator
from email_validator import EmailNotValidError, validate_email

from shared.foundation.core.errors import Invalid

# RFC 5321 allows 254 octets. The length is checked first, so that nothing parses a megabyte.
MAX_LENGTH = 254

# Deployments without Internet access use names such as `.local`, `.internal` and `.test`. The
# library accepts them once they are removed from this list.
email_validator.SPECIAL_USE_DOMAIN_NAMES.clear()


def normal_address(text: str, field: str = "email") -> str:
    """Returns the address trimmed, in lower case, with its domain in letters instead of Punycode.

    Raises `Invalid` naming `field`. Does not check whether mail arrives there.
    """
    trimmed = text.strip()
    if len(trimmed) > MAX_LENGTH:
        raise Invalid.field(field, f"must have at most {MAX_LENGTH} characters")
    try:
        found = validate_email(
            trimmed, check_deliverability=False, globally_deliverable=False, strict=True
        )
    except EmailNotValidError:
        raise Invalid.field(field, "must be an e-mail address") from None
    return found.normalized.lower()
