"""The browser application: routes, access, limits and the server. It knows no page; rooms above it add theirs as records.

A room adds pages by a list of `routes.Route` records, which `cli/serve.py` passes to `application.run_server` with those of
the other rooms. A route is a path, a function from an `Asked` (the names in the path, the query, the body) to a `Response`, and
who may ask: `login`, those who have the token of the start-up URL or the password, or `open`, everybody who can reach the
server. Nothing else has to be registered, and a route decides nothing about access, hosts, sizes or times:

    def begin(asked: Asked) -> Response:
        return html_page(render(study.open(asked.names["study"])))

    ROUTES = (
        Route("/study/{study}", begin, access="open"),
        Route("/study/{study}/answer", keep, access="open", methods=("POST",)),
        Route("/studies", overview),
    )

Functions of routes run in threads, several at once, and may block. A body arrives complete, and is at most
`limits.BODY` bytes. A POST is answered only if it comes from a page of this server. A `SyntagmError` becomes a page with
its message: `routes.Missing` with the status 404, a `UsageError` or an `InputError` with 400, others with 500.
"""
