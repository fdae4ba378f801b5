"""amplitude.com/docs/apis/analytics/user-privacy: a batch that runs days later; ids that are not known
are refused unless ignore_invalid_id.
"""
import base64
from .vendor import Answer, Base, route


class Vendor(Base):
    authorization = ("Authorization", "Basic " + base64.b64encode(b"api-key:canary-http-9c1d").decode())

    def fill(self):
        super().fill()
        self.batch = set()

    def left(self):
        return 0 if self.user in self.batch else 1

    def others(self):
        return {**super().others(), "batch": sorted(self.batch - {self.user})}

    @route("POST", "/api/2/deletions/users")
    def post(self, data, **_):
        known = {thing["owner"] for thing in self.things.values()}
        wanted = data["user_ids"]
        if not all(user in known for user in wanted) and data.get("ignore_invalid_id") != "True":
            return Answer(400, {"error": "invalid user ids"})
        self.batch |= set(wanted)
        return Answer(200, {"day": "2027-01-28", "status": "staging", "amplitude_ids": []})
