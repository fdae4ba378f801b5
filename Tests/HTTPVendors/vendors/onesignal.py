"""documentation.onesignal.com/reference/delete-user: an alias in the path, 202, done shortly after.

/reference/view-user shows the error of a 404 with a code that it calls internal. An app that is not there is a 404, too.
"""
from .vendor import Answer, Base, route


class Vendor(Base):
    authorization = ("Authorization", "Key canary-http-9c1d")
    app = "/apps/11111111-2222-4333-8444-555555555555/users/by/external_id/{}"

    def fill(self):
        super().fill()
        self.looks = None

    def found(self, user):
        return [n for n, t in self.things.items() if t["owner"] == user]

    def unknown(self):
        return Answer(404, {"errors": [{"code": "internal error code", "title": "example error title", "meta": {}}]})

    @route("GET", "/apps/11111111-2222-4333-8444-555555555555/segments")
    def segments(self, query, **_):
        return Answer(200, {"total_count": 1, "offset": 0, "limit": int(query.get("limit", 300)), "segments": [
            {"id": "4414c404-56a3-11ed-9b6a-0242ac120002", "name": "Subscribed Users", "is_active": True}]})

    @route("DELETE", app)
    def delete(self, user, **_):
        if not self.found(user):
            return self.unknown()
        self.looks = (user, 0)
        return Answer(202, {"identity": {"onesignal_id": "567491ee-9105-4a87-9cbc-ed78a571645b"}})

    @route("GET", app)
    def get(self, user, **_):
        # The second look finds the work done.
        if self.looks and self.looks[0] == user:
            self.looks = (user, self.looks[1] + 1)
            if self.looks[1] > 1:
                for name in self.found(user):
                    del self.things[name]
        if not self.found(user):
            return self.unknown()
        return Answer(200, {"identity": {"external_id": user}, "properties": {}})

    def no_route(self, method, path):
        return self.unknown()
