"""docs.customer.io: POST /api/v2/entity of the Track API answers before it deletes, also where nobody has the id;
POST /v1/customers/attributes of the App API leaves out whom it does not know. Each host takes its own key only.
"""
import base64
from .vendor import Answer, Base, route


class Vendor(Base):
    track = "Basic " + base64.b64encode(b"site-1:canary-http-9c1d").decode()
    app = "Bearer canary-http-9c1d"

    def fill(self):
        super().fill()
        self.doomed = []

    def serve(self, method, path, query, data, headers):
        # Of both hosts; neither takes the other's key.
        self.authorization = ("Authorization", self.track if path.startswith("/api/") else self.app)
        return super().serve(method, path, query, data, headers)

    @route("POST", "/api/v2/entity")
    def entity(self, data, **_):
        if data.get("type") != "person" or data.get("action") != "delete" or list(data["identifiers"]) != ["id"]:
            return Answer(400, {"errors": [{"reason": "invalid", "field": "action", "message": "unknown action"}]})
        self.doomed.append(data["identifiers"]["id"])
        return Answer(200, {})

    @route("POST", "/v1/customers/attributes")
    def attributes(self, query, data, **_):
        if query.get("id_type", "id") != "id" or not 0 < len(data["ids"]) <= 100:
            return Answer(400, {"errors": [{"detail": "invalid id_type", "status": "400"}]})
        found = [{"customer": {"id": t["owner"], "attributes": {}}} for t in self.things.values()
                 if t["owner"] in data["ids"]]
        # What was asked for is done a little later.
        self.things = {n: t for n, t in self.things.items() if t["owner"] not in self.doomed}
        return Answer(200, {"customers": found})
