"""Valid slugs and names of organizations."""

import pytest

from shared.access.organizations.rules import RESERVED, require_name, require_slug
from shared.foundation.core.errors import Invalid


@pytest.mark.parametrize("slug", ["a", "0", "acme", "a-b-c", "9to5", "a" * 40, "default"])
def test_slugs(slug: str) -> None:
    require_slug(slug)


@pytest.mark.parametrize(
    "slug",
    [
        *("", "a" * 41, "-a", "a-", "a--b", "Acme", "a_b", "a b", "a/b", "a\n", "käse"),
        *sorted(RESERVED),
    ],
)
def test_invalid_slugs(slug: str) -> None:
    with pytest.raises(Invalid) as refused:
        require_slug(slug)
    assert refused.value.fields.keys() == {"slug"}


@pytest.mark.parametrize("name", ["", " ", "a\x00", "n" * 201])
def test_invalid_names(name: str) -> None:
    with pytest.raises(Invalid):
        require_name(name)
