"""twilio.com/docs/sendgrid/api-reference, "Contacts" and "Recipients' Data Erasure": addresses are kept in lower
case, a search by SGQL compares them as they are, and deletions are made some time after their answer.
"""
import re, uuid
from .vendor import Answer, Base, route


class Vendor(Base):
    def fill(self):
        for owner in [self.user] + self.lookalikes():
            name = str(uuid.uuid5(uuid.NAMESPACE_DNS, owner))
            self.things[name] = {"owner": owner, "email": owner.lower()}
        self.activity = {owner.lower(): 3 for owner in [self.user] + self.lookalikes()}
        self.jobs, self.looks = [], 0

    def left(self):
        return super().left() + (self.user.lower() in self.activity)

    def others(self):
        return {**super().others(), "activity": sorted(set(self.activity) - {self.user.lower()})}

    def contact(self, name):
        return {"id": name, "email": self.things[name]["email"], "alternate_emails": []}

    @route("POST", "/v3/marketing/contacts/search")
    def search(self, data, **_):
        match = re.fullmatch(r"email = (lower\()?'([^']*)'(\))?", data["query"])
        if not match:
            return Answer(400, {"errors": [{"message": "invalid SGQL"}]})
        wanted = match[2].lower() if match[1] else match[2]
        found = [n for n, t in self.things.items() if t["email"] == wanted]
        return Answer(200, {"result": [self.contact(n) for n in found], "contact_count": len(found)})

    @route("DELETE", "/v3/marketing/contacts")
    def delete(self, query, **_):
        if query.get("delete_all_contacts") == "true":
            self.things = {}
        elif "ids" not in query:
            return Answer(400, {"errors": [{"message": "ids"}]})
        self.jobs += query["ids"].split(",")
        self.looks = 0
        return Answer(202, {"job_id": str(uuid.uuid4())})

    @route("GET", "/v3/marketing/contacts/count")
    def count(self, **_):
        return Answer(200, {"contact_count": len(self.things), "billable_count": len(self.things)})

    @route("POST", "/v3/marketing/contacts/search/emails")
    def emails(self, data, **_):
        # The second look finds the work done.
        self.looks += 1
        if self.looks > 1:
            for name in self.jobs:
                self.things.pop(name, None)
        wanted = {address.lower() for address in data["emails"]}
        found = [n for n, t in self.things.items() if t["email"] in wanted]
        if not found:
            return Answer(404, {"errors": [{"message": "no contacts were found"}]})
        return Answer(200, {"result": {self.things[n]["email"]: {"contact": self.contact(n)} for n in found}})

    @route("POST", "/v3/recipients/erasejob")
    def erase(self, data, **_):
        for address in data["email_addresses"]:
            self.activity.pop(address.lower(), None)
        return Answer(202, {"job_id": str(uuid.uuid4())})
