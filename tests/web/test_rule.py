"""Rules of the routes."""

from flask import Flask, url_for

from web.rule import RouteRule


def test_it_makes_urls_like_any_other() -> None:
    app = Flask("test")
    app.url_rule_class = RouteRule
    app.add_url_rule("/sessions/<session_id>", "session", lambda session_id: session_id)
    with app.test_request_context():
        assert url_for("session", session_id="a b", q=1) == "/sessions/a%20b?q=1"
    assert app.test_client().get("/sessions/a").get_data() == b"a"
