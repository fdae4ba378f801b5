"""algolia.com/doc/rest-api: deleteByQuery and task run later; a filter on an attribute that is not for
faceting finds nothing and says nothing; browse has a cursor.
"""
import re
from .vendor import Answer, Base, route


class Vendor(Base):
    authorization = ("X-Algolia-API-Key", "canary-http-9c1d")

    def fill(self):
        for number, owner in enumerate([self.user] * 3 + self.lookalikes()):
            self.things[f"o{number}"] = {"owner": owner}
        self.things["o-nobody"] = {"owner": None}
        self.tasks = []

    @route("POST", "/1/indexes/posts/deleteByQuery")
    def delete(self, data, headers, **_):
        if headers.get("X-Algolia-Application-Id") != "APP1":
            return Answer(403, {"message": "Invalid Application-ID or API key", "status": 403})
        match = re.fullmatch(r'author_id:"([^"]*)"', data["filters"])
        self.tasks.append([match.group(1) if match else None, 0])
        return Answer(200, {"taskID": len(self.tasks), "updatedAt": "2026-11-23T00:00:00Z"})

    @route("GET", "/1/indexes/posts/task/{}")
    def task(self, number, **_):
        task = self.tasks[int(number) - 1]
        task[1] += 1
        if task[1] < 2:
            return Answer(200, {"status": "notPublished", "pendingTask": True})
        for name in [n for n, t in self.things.items() if t["owner"] == task[0] and t["owner"]]:
            del self.things[name]
        return Answer(200, {"status": "published", "pendingTask": False})

    @route("POST", "/1/indexes/posts/browse")
    def browse(self, data, **_):
        names = [name for name in sorted(self.things) if name > data.get("cursor", "")]
        hits = []
        for name in names[:2]:
            owner = self.things[name]["owner"]
            hits.append({"objectID": name, **({"author_id": owner} if owner else {})})
        return Answer(200, {"hits": hits, **({"cursor": names[1]} if names[2:] else {})})
