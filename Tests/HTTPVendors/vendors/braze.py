"""braze.com/docs: POST /users/delete (201, the work is done later), POST /users/export/ids."""
from .vendor import Answer, Base, route


class Vendor(Base):
    def fill(self):
        super().fill()
        self.asked = 0

    @route("POST", "/users/delete")
    def delete(self, data, **_):
        if len([key for key in data if key in ("external_ids", "braze_ids", "email_addresses")]) != 1:
            return Answer(400, {"message": "Only one of external_ids, … can be included"})
        names = [n for n, t in self.things.items() if t["owner"] in data["external_ids"]]
        for name in names:
            del self.things[name]
        return Answer(201, {"deleted": len(names), "message": "success"})

    @route("POST", "/users/export/ids")
    def export(self, data, **_):
        if not data.get("fields_to_export"):
            return Answer(400, {"message": "fields_to_export is required"})
        known = {t["owner"] for t in self.things.values()}
        users = [{"external_id": user} for user in data["external_ids"] if user in known]
        lost = [user for user in data["external_ids"] if user not in known]
        answer = {"message": "success", "users": users}
        return Answer(201, {**answer, "invalid_user_ids": lost} if lost else answer)
