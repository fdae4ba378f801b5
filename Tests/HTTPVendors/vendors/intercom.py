"""developers.intercom.com, "Delete a contact", "Search contacts" (2.17), "Pagination (Cursor)".

A search is a list of at most per_page; the operator "=" is exact, "~" contains. A deleted contact is
gone from searches.
"""
from .vendor import Answer, Base, route


class Vendor(Base):
    def fill(self):
        number = 0
        for owner in [self.user] + self.lookalikes():
            for _ in range(2):
                number += 1
                self.things[f"5f{number:022x}"] = {"owner": owner}

    @route("POST", "/contacts/search")
    def search(self, data, **_):
        query, pages = data["query"], data.get("pagination", {})
        if query.get("field") != "external_id" or query.get("operator") not in ("=", "~"):
            return Answer(400, {"type": "error.list", "errors": [{"code": "parameter_invalid"}]})
        exact = query["operator"] == "="
        found = sorted(name for name, thing in self.things.items()
                       if (query["value"] == thing["owner"] if exact else query["value"] in thing["owner"]))
        rest = [name for name in found if name > pages.get("starting_after", "")]
        page = rest[:1]
        answer = {"type": "list", "total_count": len(found), "pages": {"type": "pages", "page": 1, "per_page": 1},
                  "data": [{"type": "contact", "id": n, "external_id": self.things[n]["owner"]} for n in page]}
        if rest[1:]:
            answer["pages"]["next"] = {"page": 2, "starting_after": page[-1]}
        return Answer(200, answer)

    @route("DELETE", "/contacts/{}")
    def delete(self, name, **_):
        thing = self.things.pop(name, None)
        if not thing:
            return Answer(404, {"type": "error.list", "errors": [{"code": "not_found", "message": "Contact Not Found"}]})
        return Answer(200, {"id": name, "external_id": thing["owner"], "type": "contact", "deleted": True})
