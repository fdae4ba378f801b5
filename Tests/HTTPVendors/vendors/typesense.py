"""typesense.org/docs, "Documents": := is exact, : matches words; a value stands between backticks."""
import re
from .vendor import Answer, Base, route


class Vendor(Base):
    authorization = ("X-TYPESENSE-API-KEY", "canary-http-9c1d")

    def fill(self):
        for number, owner in enumerate([self.user] * 3 + self.lookalikes()):
            self.things[f"d{number}"] = {"owner": owner}

    def found(self, text):
        match = re.fullmatch(r"author_id:(=?)`([^`]*)`", text)
        if not match:
            return None
        exact, wanted = match.groups()
        return [n for n, t in self.things.items() if (t["owner"] == wanted if exact else wanted in t["owner"])]

    @route("DELETE", "/collections/posts/documents")
    def delete(self, query, **_):
        names = self.found(query.get("filter_by", ""))
        if names is None:
            return Answer(400, {"message": "Could not parse the filter query."})
        for name in names:
            del self.things[name]
        return Answer(200, {"num_deleted": len(names)})

    @route("GET", "/collections/posts/documents/search")
    def search(self, query, **_):
        names = self.found(query.get("filter_by", ""))
        if names is None:
            return Answer(400, {"message": "Could not parse the filter query."})
        return Answer(200, {"found": len(names), "hits": [], "page": 1})
