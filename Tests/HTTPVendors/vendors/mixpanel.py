"""developer.mixpanel.com/reference/gdpr-api: a deletion task that runs within 30 days; each call makes another one."""
from .vendor import Answer, Base, route


class Vendor(Base):
    def fill(self):
        super().fill()
        self.asked = set()

    def left(self):
        return 0 if self.user in self.asked else 1

    def others(self):
        return {**super().others(), "asked": sorted(self.asked - {self.user})}

    @route("POST", "/data-deletions/v3.0")
    def delete(self, query, data, **_):
        if query.get("token") != "591b3354bb2bdd96f72f23bf56911673":
            return Answer(403, {"status": "error", "error": "not permitted for this project"})
        wanted = data["distinct_ids"]
        if not 0 < len(wanted) < 2000 or data.get("compliance_type", "GDPR") not in ("GDPR", "CCPA"):
            return Answer(400, {"status": "error", "error": "invalid parameters"})
        self.asked |= set(wanted)
        return Answer(200, {"status": "ok", "results": [{
            "status": "PENDING", "disclosure_type": "DATA", "date_requested": "2027-01-15T08:00:00.078315",
            "tracking_id": "1583792934719392965", "project_id": 1978118, "compliance_type": "gdpr",
            "destination_url": None, "requesting_user": "ops@example.com", "distinct_id_count": len(wanted)}]})
