"""E-mail addresses as accounts, memberships and mails have them: in one form each."""

import email_validator
from email_validator import EmailNotValidError, validate_email

from shared.core.errors import Invalid

# RFC 5321 allows 254 octets; checked first, so that nothing works through a megabyte.
MAX_LENGTH = 254

# Deployments without a way to the Internet use names such as `.local`, `.internal` and `.test`;
# removing names from this list is how the library is told so.
email_validator.SPECIAL_USE_DOMAIN_NAMES.clear()


def normal_address(text: str, field: str = "email") -> str:
    """The one form of an address: trimmed, lower-case, its domain in letters rather than Punycode.

    Raises `Invalid` naming `field`. Whether mail arrives there is not asked.
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
