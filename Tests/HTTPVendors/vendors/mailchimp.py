"""mailchimp.com/developer/marketing/api/list-members: a member is asked for by address or by the MD5 of the
lower-case address; the permanent deletion takes that hash alone. DELETE only archives.
"""
import base64, hashlib
from .vendor import Answer, Base, route

LIST = "/3.0/lists/9e67587f52/members/{}"


class Vendor(Base):
    authorization = ("Authorization", "Basic " + base64.b64encode(b"expunged:canary-http-9c1d").decode())

    def fill(self):
        for owner in [self.user] + self.lookalikes():
            status = "archived" if owner == self.user else "subscribed"
            self.things[self.digest(owner)] = {"owner": owner, "status": status}

    def digest(self, address):
        return hashlib.md5(address.lower().encode()).hexdigest()

    def missing(self):
        return Answer(404, {"type": "https://mailchimp.com/developer/marketing/docs/errors/", "status": 404,
                            "title": "Resource Not Found", "detail": "The requested resource could not be found."},
                      (("Content-Type", "application/problem+json; charset=utf-8"),))

    @route("GET", "/3.0/lists/9e67587f52")
    def list(self, **_):
        return Answer(200, {"id": "9e67587f52"})

    @route("GET", LIST)
    def get(self, name, **_):
        name = self.digest(name) if "@" in name else name
        thing = self.things.get(name)
        if not thing:
            return self.missing()
        return Answer(200, {"id": name, "email_address": thing["owner"], "status": thing["status"]})

    @route("DELETE", LIST)
    def archive(self, name, **_):
        return Answer(204)

    @route("POST", LIST + "/actions/delete-permanent")
    def delete(self, name, **_):
        return Answer(204) if self.things.pop(name, None) else self.missing()

    def no_route(self, method, path):
        return self.missing()
