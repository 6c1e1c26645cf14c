"""The content security policy of the UI's page."""

import secrets


def new_nonce() -> str:
    """Returns a nonce for one page."""
    return secrets.token_urlsafe(18)


def page_policy(nonce: str) -> str:
    """Returns the policy.

    The nonce is for the style sheet that the SQL editor creates. The trusted-types policy `wp`
    makes the URLs of workers.
    """
    return (
        f"default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; "
        "img-src 'self' data:; connect-src 'self'; font-src 'self'; worker-src 'self'; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'; "
        "require-trusted-types-for 'script'; trusted-types wp"
    )
