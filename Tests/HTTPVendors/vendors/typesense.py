"""typesense.org/docs, "Documents": pages of at most per_page hits; a value stands between backticks.

A filter compares tokens, which have no capitals and no marks (the vendor's issue 1546).
"""
import re
from .vendor import Answer, Base, route


def tokens(text):
    return re.sub(r"[^a-z0-9 ]", "", text.lower())


class Vendor(Base):
    authorization = ("X-TYPESENSE-API-KEY", "canary-http-9c1d")
    page_max = 2

    def fill(self):
        others = [self.user.upper(), "-".join(self.user)] + self.lookalikes()
        for number, owner in enumerate([self.user] * 3 + others):
            self.things[f"d{number}"] = {"owner": owner}

    def found(self, text):
        match = re.fullmatch(r"author_id:(=?)`([^`]*)`", text)
        if not match:
            return None
        exact, wanted = match.groups()
        return [n for n, t in self.things.items()
                if (tokens(t["owner"]) == tokens(wanted) if exact else tokens(wanted) in tokens(t["owner"]))]

    @route("GET", "/collections/posts/documents/search")
    def search(self, query, **_):
        names = self.found(query.get("filter_by", ""))
        if names is None:
            return Answer(400, {"message": "Could not parse the filter query."})
        page, size = int(query.get("page", 1)), min(int(query.get("per_page", 10)), self.page_max)
        shown = names[(page - 1) * size:page * size]
        hits = [{"document": {"id": name, "author_id": self.things[name]["owner"]}, "highlights": []} for name in shown]
        return Answer(200, {"found": len(names), "hits": hits, "page": page})

    @route("DELETE", "/collections/posts/documents/{}")
    def delete(self, name, **_):
        thing = self.things.pop(name, None)
        if not thing:
            return Answer(404, {"message": f"Could not find a document with id: {name}"})
        return Answer(200, {"id": name, "author_id": thing["owner"]})
