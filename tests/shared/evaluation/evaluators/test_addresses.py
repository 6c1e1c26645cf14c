"""The URLs that evaluators may have, and the addresses that these may lead to."""

import pytest

from shared.evaluation.evaluators.addresses import (
    EvaluatorAddresses,
    allowed_addresses,
    origin_of,
    require_url,
)
from shared.foundation.core.errors import ConfigurationError, Invalid

PUBLIC_ONLY = EvaluatorAddresses()
LISTED = "evaluator.internal, 10.1.0.0/16,192.168.7.9 ,fd00::/8,[::1]"


@pytest.mark.parametrize(
    "url",
    [
        "https://evaluators.example.com",
        "http://evaluator:9000/base/path?team=a",
        "HTTPS://Example.com/",
        "https://8.8.8.8:8443",
        "https://[2606:4700::1111]/x",
        "https://example.com/" + "p" * 1980,
        "https://bücher.example/",
    ],
)
def test_urls_that_may_be_published(url: str) -> None:
    assert require_url("url", url, PUBLIC_ONLY) == url


@pytest.mark.parametrize(
    "url",
    [
        None,
        5,
        "",
        "example.com",
        "ftp://example.com",
        "file:///etc/passwd",
        "https://",
        "https:///path",
        "https://user@example.com",
        "https://user:word@example.com",
        "https://example.com/#part",
        "https://example.com#",
        "https://example.com/a b",
        "https://example.com/\n",
        "https://example.com\\@10.0.0.1/",
        "https://example.com:99999",
        "https://example.com:port",
        "https://[::1",
        "https://example.com/" + "p" * 1981,
        "https://example.com/…",
    ],
)
def test_what_is_no_url(url: object) -> None:
    for allowed in (PUBLIC_ONLY, allowed_addresses("1")):
        with pytest.raises(Invalid) as refused:
            require_url("spec.url", url, allowed)
        assert list(refused.value.fields) == ["spec.url"]


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.1",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "2130706433",
        "0",
        "10.1.2.3",
        "169.254.169.254",
        "168.63.129.16",
        "100.64.0.1",
        "[::1]",
        "[::ffff:10.0.0.1]",
        "[fe80::1]",
        "[fd00::1]",
        "[64:ff9b::a00:1]",
    ],
)
def test_a_literal_address_has_to_be_public_or_allowed(host: str) -> None:
    url = f"http://{host}:9000/"
    with pytest.raises(Invalid, match="EVALUATOR_ALLOW_PRIVATE"):
        require_url("url", url, PUBLIC_ONLY)
    assert require_url("url", url, allowed_addresses("1")) == url


@pytest.mark.parametrize(
    ("address", "host", "admitted"),
    [
        ("8.8.8.8", "example.com", True),
        ("10.1.255.1", "example.com", True),
        ("10.2.0.1", "example.com", False),
        ("192.168.7.9", "x", True),
        ("192.168.7.8", "x", False),
        ("fd12::1", "x", True),
        ("::1", "x", True),
        ("::2", "x", False),
        ("127.0.0.1", "evaluator.internal", True),
        ("127.0.0.1", "Evaluator.INTERNAL", True),
        ("127.0.0.1", "other.internal", False),
        ("not an address", "x", False),
    ],
)
def test_hosts_addresses_and_networks_can_be_allowed(
    address: str, host: str, admitted: bool
) -> None:
    assert allowed_addresses(LISTED).admits(address, host) is admitted


@pytest.mark.parametrize("variable", [None, "", "0"])
def test_without_the_variable_public_addresses_are_admitted_only(variable: str | None) -> None:
    allowed = allowed_addresses(variable)
    assert allowed == PUBLIC_ONLY
    assert not allowed.admits("10.0.0.1", "10.0.0.1")
    assert allowed_addresses("1").admits("10.0.0.1", "x")


@pytest.mark.parametrize("variable", ["1,", "http://evaluator", "10.0.0.0/99", "a b", "*", "a,,b"])
def test_an_entry_that_is_none_is_refused(variable: str) -> None:
    with pytest.raises(ConfigurationError, match="EVALUATOR_ALLOW_PRIVATE"):
        allowed_addresses(variable)


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://Example.com/path?q=1", "https://example.com"),
        ("https://example.com:443", "https://example.com"),
        ("http://example.com:80/", "http://example.com"),
        ("http://example.com:443/", "http://example.com:443"),
        ("http://[2606:4700::1111]:9000/x", "http://[2606:4700::1111]:9000"),
        ("HTTP://evaluator", "http://evaluator"),
    ],
)
def test_an_origin_has_one_spelling(url: str, origin: str) -> None:
    assert origin_of(url) == origin
