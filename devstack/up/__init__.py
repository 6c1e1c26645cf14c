"""`bin/up`: the whole service on this machine, with a demonstration.

`deployment` starts everything as a real deployment would: the lines of the Procfile, told where the
stores are by variables. `demo` and `checks` then use it through its HTTP API only.
"""
