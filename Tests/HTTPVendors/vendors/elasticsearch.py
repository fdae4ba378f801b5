"""elastic.co, "Delete by query": works on what was visible at its start; with conflicts=proceed it passes
over documents that change meanwhile; writes are visible after a refresh.
"""
import base64
from .vendor import Answer, Base, route


class Vendor(Base):
    authorization = ("Authorization", "Basic " + base64.b64encode(b"expunged:canary-http-9c1d").decode())

    def fill(self):
        for number, owner in enumerate([self.user] * 4 + self.lookalikes()):
            self.things[f"d{number}"] = {"owner": owner, "visible": number != 1, "busy": number == 2}

    def found(self, data):
        (clause,) = data["query"]["bool"]["filter"]
        wanted = clause["term"]["author_id"]
        return [n for n, t in self.things.items() if t["owner"] == wanted and t["visible"]]

    @route("POST", "/posts/_delete_by_query")
    def delete(self, query, data, **_):
        names, conflicts = self.found(data), 0
        deleted = 0
        for name in names:
            if self.things[name]["busy"]:
                self.things[name]["busy"], conflicts = False, conflicts + 1
                continue
            del self.things[name]
            deleted += 1
        if query.get("refresh") == "true":
            for thing in self.things.values():
                thing["visible"] = True
        status = 409 if conflicts and query.get("conflicts") != "proceed" else 200
        return Answer(status, {"took": 3, "timed_out": False, "total": len(names), "deleted": deleted,
                               "version_conflicts": conflicts, "failures": []})

    @route("POST", "/posts/_count")
    def count(self, data, **_):
        return Answer(200, {"count": len(self.found(data)), "_shards": {"total": 1, "failed": 0}})
