"""revenuecat.com/docs/api-v2: what is not there is resource_missing, another project is not allowed. Version 1
makes the customer that it is asked for.
"""
from .vendor import Answer, Base, route


class Vendor(Base):
    def fill(self):
        self.things = {name: {"owner": name} for name in [self.user] + self.lookalikes()}

    def missing(self):
        return Answer(404, {"type": "resource_missing", "param": "customer_id", "retryable": False,
                            "doc_url": "https://errors.rev.cat/resource-missing"})

    @route("GET", "/v2/projects/{}/customers/{}")
    def get(self, project, name, **_):
        if project != "proj1ab2c3d4":
            return Answer(403, {"type": "authorization_error"})
        return Answer(200, {"object": "customer", "id": name}) if name in self.things else self.missing()

    @route("DELETE", "/v2/projects/{}/customers/{}")
    def delete(self, project, name, **_):
        if project != "proj1ab2c3d4":
            return Answer(403, {"type": "authorization_error"})
        if not self.things.pop(name, None):
            return self.missing()
        return Answer(200, {"object": "customer", "id": name, "deleted_at": 1658399423658})

    @route("GET", "/v1/subscribers/{}")
    def get_or_create(self, name, **_):
        self.things.setdefault(name, {"owner": name})
        return Answer(201, {"subscriber": {"original_app_user_id": name}})
