"""developers.hubspot.com, "Permanently delete a contact (GDPR-compliant)".

An address that is not known goes to a blocklist: an erasure by address would block the user's
newsletter for ever. A batch that lacks some of its inputs is a 207 with the others; a path that is none is a 404.
"""
from .vendor import Answer, Base, route


class Vendor(Base):
    def fill(self):
        self.things = {name: {"owner": name} for name in [self.user, "1" + self.user, self.user + "1", "77"]}
        self.blocked = []

    def others(self):
        return {**super().others(), "blocked": self.blocked}

    @route("POST", "/crm/v3/objects/contacts/gdpr-delete")
    def delete(self, data, **_):
        if data.get("idProperty") == "email":
            self.blocked.append(data["objectId"])
        self.things.pop(data["objectId"], None)
        return Answer(204)

    @route("POST", "/crm/v3/objects/contacts/batch/read")
    def read(self, data, **_):
        names = [given["id"] for given in data["inputs"]]
        there = [name for name in names if name in self.things]
        body = {"status": "COMPLETE", "startedAt": "2026-11-23T10:00:00Z", "completedAt": "2026-11-23T10:00:00Z",
                "results": [{"id": name, "properties": {"hs_object_id": name}, "archived": False} for name in there]}
        if there == names:
            return Answer(200, body)
        missing = [name for name in names if name not in there]
        return Answer(207, {**body, "numErrors": 1, "errors": [
            {"status": "error", "category": "OBJECT_NOT_FOUND", "message": "Could not get some CONTACT objects, they "
             "may be deleted or not exist.", "context": {"ids": missing}}]})

    def no_route(self, method, path):
        return Answer(404, {"status": "error", "message": "resource not found", "correlationId": "0"})
