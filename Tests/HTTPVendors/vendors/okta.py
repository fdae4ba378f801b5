"""help.okta.com, "Delete User": the first DELETE of an active user deactivates, the second deletes."""
from .vendor import Answer, Base, route


class Vendor(Base):
    authorization = ("Authorization", "SSWS canary-http-9c1d")

    def fill(self):
        self.things = {name: {"owner": name, "status": "ACTIVE"} for name in [self.user] + self.lookalikes()}

    def missing(self, user):
        return Answer(404, {"errorCode": "E0000007", "errorSummary": "Not found: Resource not found (User)"})

    @route("DELETE", "/api/v1/users/{}")
    def delete(self, user, **_):
        thing = self.things.get(user)
        if not thing:
            return self.missing(user)
        if thing["status"] == "ACTIVE":
            thing["status"] = "DEPROVISIONED"
        else:
            del self.things[user]
        return Answer(204)

    @route("GET", "/api/v1/users/{}")
    def get(self, user, **_):
        thing = self.things.get(user)
        return Answer(200, {"id": user, "status": thing["status"]}) if thing else self.missing(user)
