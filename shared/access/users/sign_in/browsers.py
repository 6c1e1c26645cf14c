"""The name of a browser, for the list of somebody's sessions."""

# The first that fits counts: many browsers also name those that they imitate.
_BROWSERS = (
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
    ("curl/", "curl"),
)
_SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iOS"),
    ("iPad", "iPadOS"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)


def browser_of(user_agent: str) -> str | None:
    """Returns a name such as `Firefox on Linux`, None for a program that is not known.

    Only these names are kept, and nothing of the header itself.
    """
    browser = _first(user_agent, _BROWSERS)
    system = _first(user_agent, _SYSTEMS)
    return f"{browser} on {system}" if browser and system else browser


def _first(user_agent: str, known: tuple[tuple[str, str], ...]) -> str | None:
    return next((name for mark, name in known if mark in user_agent), None)
