"""A server that speaks S3, on loopback."""

import os
import subprocess
import sys
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from devstack.ports import LOOPBACK, free_port
from tests.support.processes import wait_until

# Any key is accepted.
VARIABLES = {
    "AWS_ACCESS_KEY_ID": "example",
    "AWS_SECRET_ACCESS_KEY": "example",
    "AWS_REGION": "us-east-1",
}


class S3Server:
    """A running server: the variables by which clients find it, and its buckets."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.variables = {**VARIABLES, "AWS_ENDPOINT_URL": url}

    def new_bucket(self) -> str:
        """Creates a bucket and returns its name."""
        name = f"bucket-{uuid.uuid4().hex}"
        request = urllib.request.Request(f"{self.url}/{name}", method="PUT")  # noqa: S310 # loopback
        with urllib.request.urlopen(request):  # noqa: S310 # loopback
            return name


@contextmanager
def s3_server() -> Iterator[S3Server]:
    """Starts the server and ends it."""
    port = free_port()
    server = S3Server(f"http://{LOOPBACK}:{port}")
    command = [sys.executable, "-W", "ignore", "-m", "moto.server", "-H", LOOPBACK, "-p", str(port)]
    with subprocess.Popen(
        command,
        env={**os.environ, **VARIABLES},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            wait_until(lambda: process.poll() is not None or _answers(server.url))
            yield server
        finally:
            process.kill()


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url):  # noqa: S310 # loopback
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
