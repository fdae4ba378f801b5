"""segment.com/docs/privacy/user-deletion-and-suppression: a regulation runs within 30 days."""
from .vendor import Answer, Base, route


class Vendor(Base):
    def fill(self):
        super().fill()
        self.regulated = set()

    def left(self):
        return 0 if self.user in self.regulated else 1

    def others(self):
        return {**super().others(), "regulated": sorted(self.regulated - {self.user})}

    @route("POST", "/regulations")
    def regulate(self, data, **_):
        kinds = ("SUPPRESS_ONLY", "UNSUPPRESS", "SUPPRESS_WITH_DELETE", "DELETE_INTERNAL", "DELETE_ONLY")
        if data.get("regulationType") not in kinds or data.get("subjectType") != "USER_ID":
            return Answer(422, {"errors": [{"type": "validation-failure"}]})
        if data["regulationType"] in ("SUPPRESS_WITH_DELETE", "DELETE_ONLY"):
            self.regulated |= set(data["subjectIds"])
        return Answer(200, {"data": {"regulateId": "1hY1hRnTxxxxxxxx"}})
