"""What the value of a setting may be: one function a kind, which gives the form that is stored."""

from collections.abc import Callable, Iterable, Mapping
from urllib.parse import urlsplit

from shared.core.email_address import normal_address
from shared.core.errors import Invalid
from shared.settings.catalogue import Setting, Value

# What `Invalid` names: the only field of the body.
FIELD = "value"

MAX_ITEMS = 500
MAX_STRING_LENGTH = 256
MAX_SECRET_LENGTH = 512
MAX_URL_LENGTH = 2048

_ANY_ADDRESS = "*@"


def normal_value(setting: Setting, value: object) -> Value:
    """The form in which `value` is stored; raises `Invalid`, which never repeats the value.

    `value` is what JSON decodes to. A `permission_set_ref` is only known to be text: which sets
    there are is the organization's.
    """
    return _KINDS[setting.kind](setting, value)


def lets_in(allowlist: Value, address: str) -> bool:
    """Whether an `allowed_sign_ins` lets a lower-case address in; an empty one lets all."""
    if not isinstance(allowlist, list) or not allowlist:
        return True
    return address in allowlist or _ANY_ADDRESS + address.rpartition("@")[2] in allowlist


def _email_allowlist(_setting: Setting, value: object) -> Value:
    return _unique(_allowed(item) for item in _strings(value))


def _allowed(item: str) -> str:
    item = item.strip()
    if not item.startswith(_ANY_ADDRESS):
        return normal_address(item, FIELD)
    # Any address of the domain shows its one form.
    return _ANY_ADDRESS + normal_address("a@" + item[2:], FIELD).rpartition("@")[2]


def _email_list(_setting: Setting, value: object) -> Value:
    items = _strings(value)
    # An address in the eyes of RFC 5322, and surely not what is meant here.
    if any(item.strip().startswith(_ANY_ADDRESS) for item in items):
        raise _refusal("must hold whole addresses")
    return _unique(normal_address(item, FIELD) for item in items)


def _positive_int(setting: Setting, value: object) -> Value:
    # By type and not by isinstance: true is no number, and 60.0 is not what anybody means.
    if type(value) is not int:
        raise _refusal("must be an integer")
    low, high = setting.minimum or 0, setting.maximum
    if value < low or (high is not None and value > high):
        raise _refusal(f"must be between {low} and {high}")
    return value


def _channel_set(setting: Setting, value: object) -> Value:
    options = setting.options or ()
    chosen = _strings(value)
    if not set(chosen) <= set(options):
        raise _refusal(f"may hold {', '.join(options)} only")
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
    # PostgreSQL keeps no NUL, and no sender means one.
    if not all(1 <= len(one) <= MAX_STRING_LENGTH and "\0" not in one for one in strings):
        raise _refusal(f"must hold strings of 1 to {MAX_STRING_LENGTH} characters without NUL")
    folded = {one.lower() for one in strings}
    reserved = [one for one in setting.reserved if one in folded]
    if reserved:
        raise _refusal(f"may not hold {', '.join(reserved)}")
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
}
