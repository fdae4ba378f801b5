"""What the stand-ins have in common: routes, and who is whose."""
import dataclasses, re, urllib.parse


@dataclasses.dataclass
class Answer:
    status: int
    body: object = None
    headers: tuple = ()


def route(method, pattern):
    """`{}` in the pattern is one segment of the path, which is decoded after it was matched."""
    expression = re.compile("^" + re.escape(pattern).replace(r"\{\}", "([^/]+)") + "/?$")

    def mark(function):
        function.route = (method, expression)
        return function

    return mark


class Base:
    """The victim is `user`; `others` belong to users whose ids look alike."""

    #: The header that every call must have, and its value.
    authorization = ("Authorization", "Bearer canary-http-9c1d")
    #: Path, query and body of the present call, as they came.
    raw = ("", "", b"")
    #: Whether jobs stay running.
    is_held = False
    #: Things of one kind, by id; each has "owner".
    def __init__(self, user):
        self.user = user
        self.things = {}
        self.fill()

    def lookalikes(self):
        return [self.user + "2", "x" + self.user, self.user.upper() + "-other", "bob"]

    def fill(self):
        for number, owner in enumerate([self.user] + self.lookalikes()):
            self.things[f"t{number}"] = {"owner": owner}

    def left(self):
        return sum(1 for thing in self.things.values() if thing["owner"] == self.user)

    def others(self):
        return {name: thing for name, thing in self.things.items() if thing["owner"] != self.user}

    def serve(self, method, path, query, data, headers):
        if not self.is_allowed(method, headers):
            return Answer(401, {"error": "unauthorized"})
        for key in dir(type(self)):
            function = getattr(self, key)
            wanted = getattr(function, "route", None)
            if not wanted or wanted[0] != method:
                continue
            match = wanted[1].match(path)
            if match:
                parts = [urllib.parse.unquote(part) for part in match.groups()]
                return function(*parts, query=query, data=data, headers=headers)
        return self.no_route(method, path)

    def is_allowed(self, method, headers):
        name, value = self.authorization
        return headers.get(name) == value

    def no_route(self, method, path):
        return Answer(404, {"message": "no such route"})
