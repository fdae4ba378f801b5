"""developer.zendesk.com, "Users": a deleted user is shown among the deleted ones until it is deleted
permanently; what is not there is RecordNotFound.
"""
import base64
from .vendor import Answer, Base, route


class Vendor(Base):
    authorization = ("Authorization", "Basic " + base64.b64encode(b"ops@example.com/token:canary-http-9c1d").decode())

    def fill(self):
        for owner in [self.user, self.user + "1", "2" + self.user, "77"]:
            self.things[owner] = {"owner": owner, "state": "active"}
        self.things["78"] = {"owner": "78", "state": "deleted"}

    def left(self):
        return 0 if self.things[self.user]["state"] == "purged" else 1

    def missing(self):
        return Answer(404, {"error": "RecordNotFound", "description": "Not found"})

    def shown(self, name):
        thing = self.things[name]
        person = "Permanently Deleted User" if thing["state"] == "purged" else "x"
        return {"id": int(name), "name": person, "active": thing["state"] == "active"}

    @route("GET", "/api/v2/users/{}")
    def get(self, name, **_):
        return Answer(200, {"user": self.shown(name)}) if name in self.things else self.missing()

    @route("DELETE", "/api/v2/users/{}")
    def delete(self, name, **_):
        thing = self.things.get(name)
        if not thing:
            return self.missing()
        if thing["state"] != "active":
            return Answer(422, {"error": "RecordInvalid", "description": "Record validation errors"})
        thing["state"] = "deleted"
        return Answer(200, {"user": self.shown(name)})

    @route("GET", "/api/v2/deleted_users/{}")
    def get_deleted(self, name, **_):
        thing = self.things.get(name)
        if not thing or thing["state"] != "deleted":
            return self.missing()
        return Answer(200, {"deleted_user": self.shown(name)})

    @route("DELETE", "/api/v2/deleted_users/{}")
    def purge(self, name, **_):
        thing = self.things.get(name)
        if not thing or thing["state"] != "deleted":
            return self.missing()
        thing["state"] = "purged"
        return Answer(200, {"deleted_user": self.shown(name)})

    def no_route(self, method, path):
        return Answer(404, {"error": "InvalidEndpoint", "description": "Not found"})
