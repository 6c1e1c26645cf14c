"""REDIS_URL with sentinels."""

import pytest

from shared.foundation.core.config import load_settings
from shared.foundation.core.errors import ConfigurationError
from shared.foundation.core.redis_url import SentinelUrl
from tests.shared.foundation.core.test_config import STORES


def test_all_parts_of_a_url_count() -> None:
    url = "rediss+sentinel://watch:p%40ss@one,two:5000,[::1]:5001/main/3?ssl_cert_reqs=none"
    assert SentinelUrl.parse(url) == SentinelUrl(
        (("one", 26379), ("two", 5000), ("::1", 5001)),
        "main",
        "rediss://watch:p%40ss@unknown/3?ssl_cert_reqs=none",
    )


def test_database_0_is_the_default() -> None:
    assert SentinelUrl.parse("redis+sentinel://one/main").server == "redis://unknown/0"
    assert SentinelUrl.parse("redis+sentinel://one/main/?a=b").server == "redis://unknown/0?a=b"


@pytest.mark.parametrize(
    "url",
    [
        "redis+sentinel://",
        "redis+sentinel://one:26379",
        "redis+sentinel://one:26379/",
        "redis+sentinel://:secret@one:26379,/main",
        "redis+sentinel://:secret@one:port/main",
        "redis+sentinel://one:70000/main",
        "redis+sentinel://one:26379/main/zero",
    ],
)
def test_a_process_refuses_to_start_with_a_wrong_one(url: str) -> None:
    with pytest.raises(ConfigurationError, match="REDIS_URL: expected") as refused:
        load_settings({**STORES, "REDIS_URL": url})
    assert "secret" not in str(refused.value)
