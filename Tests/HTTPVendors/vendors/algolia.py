"""algolia.com/doc/rest-api: a deletion runs later; a filter on an attribute that is not for faceting finds
nothing and says nothing; browse has a cursor. Filters here ignore case, as the vendor does not promise the contrary.
"""
import re
from .vendor import Answer, Base, route


class Vendor(Base):
    authorization = ("X-Algolia-API-Key", "canary-http-9c1d")

    def fill(self):
        for number, owner in enumerate([self.user] * 3 + [self.user.upper()] + self.lookalikes()):
            self.things[f"o{number}"] = {"owner": owner}
        self.things["o-nobody"] = {"owner": None}
        self.tasks = []

    def found(self, text):
        match = re.fullmatch(r'author_id:"([^"]*)"', text)
        return [n for n, t in self.things.items()
                if match and (t["owner"] or "").lower() == match.group(1).lower()]

    @route("DELETE", "/1/indexes/posts/{}")
    def delete(self, name, headers, **_):
        if headers.get("X-Algolia-Application-Id") != "APP1":
            return Answer(403, {"message": "Invalid Application-ID or API key", "status": 403})
        self.tasks.append([name, 0])
        return Answer(200, {"taskID": len(self.tasks), "deletedAt": "2026-11-23T00:00:00Z"})

    @route("GET", "/1/indexes/posts/task/{}")
    def task(self, number, **_):
        task = self.tasks[int(number) - 1]
        task[1] += 1
        if task[1] < 2:
            return Answer(200, {"status": "notPublished", "pendingTask": True})
        self.things.pop(task[0], None)
        return Answer(200, {"status": "published", "pendingTask": False})

    @route("POST", "/1/indexes/posts/browse")
    def browse(self, data, **_):
        among = self.found(data["filters"]) if "filters" in data else self.things
        names = [name for name in sorted(among) if name > data.get("cursor", "")]
        hits = []
        for name in names[:2]:
            owner = self.things[name]["owner"]
            hits.append({"objectID": name, **({"author_id": owner} if owner else {})})
        return Answer(200, {"hits": hits, **({"cursor": names[1]} if names[2:] else {})})
