"""`bin/up`: the whole service on this machine, with a demonstration.

`deployment` starts everything as a real deployment would: it runs the lines of the Procfile with
variables that name the stores. `demo` and `checks` then use the service only through its HTTP API.
"""
