"""Valid e-mail addresses, and equal spellings of one."""

import pytest

from shared.foundation.core.email_address import normal_address
from shared.foundation.core.errors import Invalid


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("ann@example.com", "ann@example.com"),
        ("  Ann.B+c@Example.COM\n", "ann.b+c@example.com"),
        ("ann@intranet", "ann@intranet"),
        ("ann@localhost", "ann@localhost"),
        ("ann@mail.local", "ann@mail.local"),
        ("ann@service.test", "ann@service.test"),
        ("ÄNN@BÜCHER.example", "änn@bücher.example"),
        ("ann@xn--bcher-kva.example", "ann@bücher.example"),
        ("a\u0308nn@x.example", "änn@x.example"),
        ("o'neil@x.example", "o'neil@x.example"),
    ],
)
def test_an_address_has_one_form(text: str, normal: str) -> None:
    assert normal_address(text) == normal
    assert normal_address(normal) == normal


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "ann",
        "@x.example",
        "ann@",
        "ann@b@x.example",
        "ann@x..example",
        "ann@x_y.example",
        "ann b@x.example",
        "ann@x.example, ben@x.example",
        "Ann <ann@x.example>",
        "ann@[127.0.0.1]",
        "ann\x00@x.example",
        "ann@x.example\r\nBcc: ben@x.example",
        "ann\u200b@x.example",
        "ann\ud800@x.example",
        "a" * 65 + "@x.example",
        "a@" + "b." * 150 + "example",
        "a" * 1_000_000,
    ],
)
def test_anything_else_is_refused_under_the_name_of_its_field(text: str) -> None:
    with pytest.raises(Invalid) as refused:
        normal_address(text, "recipients")
    assert refused.value.fields.keys() == {"recipients"}
