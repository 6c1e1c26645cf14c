"""Checks of setting values: one function per kind, which returns the value to store."""

from collections.abc import Callable, Iterable, Mapping
from urllib.parse import urlsplit

from shared.access.settings.catalogue import Setting, Value
from shared.foundation.core.email_address import normal_address
from shared.foundation.core.errors import Invalid

# The only field of the body, which `Invalid` names.
FIELD = "value"

MAX_ITEMS = 500
MAX_STRING_LENGTH = 256
MAX_SECRET_LENGTH = 512
MAX_URL_LENGTH = 2048

_ANY_ADDRESS = "*@"
_MASKED_PATH = "/…"


def normal_value(setting: Setting, value: object) -> Value:
    """Returns the form of `value` to store; raises `Invalid`, which never repeats the value.

    `value` is decoded JSON. A `permission_set_ref` is only checked to be text, because the sets
    depend on the organization.
    """
    return _KINDS[setting.kind](setting, value)


def masked_url(url: str) -> str:
    """Returns the origin of a URL and `/…`, because the rest is often its receiver's secret."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{_MASKED_PATH}" if url else ""


def lets_in(allowlist: Value, address: str) -> bool:
    """Returns whether `allowed_sign_ins` admits a lower-case address; an empty list admits all."""
    if not isinstance(allowlist, list) or not allowlist:
        return True
    return address in allowlist or _ANY_ADDRESS + address.rpartition("@")[2] in allowlist


def _email_allowlist(_setting: Setting, value: object) -> Value:
    return _unique(_allowed(item) for item in _strings(value))


def _allowed(item: str) -> str:
    item = item.strip()
    if not item.startswith(_ANY_ADDRESS):
        return normal_address(item, FIELD)
    # Any address of the domain gives the normal form of the domain.
    return _ANY_ADDRESS + normal_address("a@" + item[2:], FIELD).rpartition("@")[2]


def _email_list(_setting: Setting, value: object) -> Value:
    items = _strings(value)
    # RFC 5322 accepts this as an address, but here it is certainly a mistake.
    if any(item.strip().startswith(_ANY_ADDRESS) for item in items):
        raise _refusal("must contain whole addresses; *@domain is not allowed here")
    return _unique(normal_address(item, FIELD) for item in items)


def _positive_int(setting: Setting, value: object) -> Value:
    # Compares types instead of using isinstance: true is not a number, and 60.0 is a mistake.
    if type(value) is not int:
        raise _refusal("must be an integer")
    low, high = setting.minimum or 0, setting.maximum
    if value < low or (high is not None and value > high):
        raise _refusal(f"must be between {low} and {high}")
    return value


def _boolean(_setting: Setting, value: object) -> Value:
    if not isinstance(value, bool):
        raise _refusal("must be true or false")
    return value


def _choice(setting: Setting, value: object) -> Value:
    options = setting.options or ()
    if _text(value) not in options:
        raise _refusal(f"must be one of {', '.join(options)}")
    return _text(value)


def _channel_set(setting: Setting, value: object) -> Value:
    options = setting.options or ()
    chosen = _strings(value)
    if not set(chosen) <= set(options):
        raise _refusal(f"may contain only {', '.join(options)}")
    return [option for option in options if option in chosen]


def _permission_set_ref(_setting: Setting, value: object) -> Value:
    return _text(value)


def _url(_setting: Setting, value: object) -> Value:
    url = _text(value).strip()
    if url and not _is_http_url(url):
        raise _refusal(
            "must be an http or https URL with a host and without credentials,"
            f" of at most {MAX_URL_LENGTH} characters"
        )
    if url and url == masked_url(url):
        raise _refusal("is shortened: send the whole URL")
    return url


def _is_http_url(url: str) -> bool:
    if len(url) > MAX_URL_LENGTH or not url.isprintable() or any(map(str.isspace, url)):
        return False
    try:
        parts = urlsplit(url)
        host, _port = parts.hostname, parts.port
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(host) and "@" not in parts.netloc


def _secret(_setting: Setting, value: object) -> Value:
    secret = _text(value)
    if len(secret) > MAX_SECRET_LENGTH or not secret.isprintable():
        raise _refusal(f"must have at most {MAX_SECRET_LENGTH} printable characters")
    return secret


def _string_list(setting: Setting, value: object) -> Value:
    strings = _strings(value)
    # PostgreSQL cannot store NUL, and no sender intends one.
    if not all(1 <= len(one) <= MAX_STRING_LENGTH and "\0" not in one for one in strings):
        raise _refusal(f"must contain strings of 1 to {MAX_STRING_LENGTH} characters without NUL")
    if setting.max_items is not None and len(_unique(strings)) > setting.max_items:
        raise _refusal(f"must contain at most {setting.max_items} strings")
    folded = {one.lower() for one in strings}
    reserved = [one for one in setting.reserved if one in folded]
    if reserved:
        raise _refusal(f"must not contain {', '.join(reserved)}")
    return _unique(strings)


def _strings(value: object) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _refusal("must be a list of strings")
    if len(value) > MAX_ITEMS:
        raise _refusal(f"must have at most {MAX_ITEMS} entries")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise _refusal("must be a string")
    return value


def _unique(items: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(items))


def _refusal(reason: str) -> Invalid:
    return Invalid.field(FIELD, reason)


_KINDS: Mapping[str, Callable[[Setting, object], Value]] = {
    "email_allowlist": _email_allowlist,
    "positive_int": _positive_int,
    "permission_set_ref": _permission_set_ref,
    "channel_set": _channel_set,
    "email_list": _email_list,
    "url": _url,
    "secret": _secret,
    "string_list": _string_list,
    "boolean": _boolean,
    "choice": _choice,
}
