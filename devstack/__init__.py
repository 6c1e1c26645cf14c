"""PostgreSQL, Valkey and ClickHouse on this machine, from pip wheels, for development and tests.

    with DevStack(".devstack") as stack:
        print(stack.urls.database_url)

The servers listen on 127.0.0.1 without passwords. Anybody who can log in to the machine can use
them, so this is for development only. A deployment points the same variables at its own servers.
"""

from devstack.errors import StackError
from devstack.ports import Ports
from devstack.stack import DevStack, StackUrls

__all__ = ["DevStack", "Ports", "StackError", "StackUrls"]
