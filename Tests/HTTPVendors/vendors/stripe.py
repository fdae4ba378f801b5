"""docs.stripe.com/api/customers/delete, /retrieve: a deleted customer can still be retrieved."""
from .vendor import Answer, Base, route


class Vendor(Base):
    def fill(self):
        self.things = {name: {"owner": name, "deleted": False} for name in [self.user] + self.lookalikes()}

    def left(self):
        return 0 if self.things[self.user]["deleted"] else 1

    def missing(self, name):
        return Answer(404, {"error": {"code": "resource_missing", "type": "invalid_request_error",
                                      "message": f"No such customer: '{name}'", "param": "id"}})

    @route("DELETE", "/v1/customers/{}")
    def delete(self, name, **_):
        thing = self.things.get(name)
        if not thing or thing["deleted"]:
            return self.missing(name)
        thing["deleted"] = True
        return Answer(200, {"id": name, "object": "customer", "deleted": True})

    @route("GET", "/v1/customers/{}")
    def get(self, name, **_):
        thing = self.things.get(name)
        if not thing:
            return self.missing(name)
        if thing["deleted"]:
            return Answer(200, {"id": name, "object": "customer", "deleted": True})
        return Answer(200, {"id": name, "object": "customer", "email": "x@example.com", "livemode": True})

    def no_route(self, method, path):
        return Answer(404, {"error": {"type": "invalid_request_error", "message": "Unrecognized request URL"}})
