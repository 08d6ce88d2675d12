"""Limits of size and time: of a body, of the headers of a request, and of the work on it."""

# The most bytes of a body, and of a request without its body.
BODY, HEAD = 1_000_000, 16_384
# The most seconds until a request has come in, without and with its body, and until it is answered.
HEAD_SECONDS, BODY_SECONDS, SECONDS = 10.0, 20.0, 60.0
# The most connections at a time, and functions of routes that run at a time.
CONNECTIONS, WORKERS = 200, 4
# The most connections of a server on which people take part in an experiment: a browser keeps some open.
OPEN_CONNECTIONS = 2000
