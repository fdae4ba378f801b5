"""meilisearch.com/docs: documents are fetched and deleted; 202 and a task, which may fail.

A filter on a text ignores case ("Filter expression syntax", equality).
"""
import re
from .vendor import Answer, Base, route


class Vendor(Base):
    def fill(self):
        for number, owner in enumerate([self.user] * 3 + [self.user.upper()] + self.lookalikes()):
            self.things[f"d{number}"] = {"owner": owner}
        self.tasks = []

    def found(self, text):
        match = re.fullmatch(r'author_id = "([^"]*)"', text)
        return [n for n, t in self.things.items() if match and t["owner"].lower() == match.group(1).lower()]

    @route("POST", "/indexes/posts/documents/fetch")
    def fetch(self, data, **_):
        names = self.found(data["filter"])
        known = [{"post_id": name, "author_id": self.things[name]["owner"], "title": "x"} for name in names]
        results = [{field: thing[field] for field in data["fields"]} for thing in known][:data.get("limit", 20)]
        return Answer(200, {"results": results, "offset": 0, "limit": data.get("limit", 20), "total": len(names)})

    @route("DELETE", "/indexes/posts/documents/{}")
    def delete(self, name, **_):
        self.tasks.append({"document": name, "looks": 0})
        return Answer(202, {"taskUid": len(self.tasks) - 1, "indexUid": "posts", "status": "enqueued",
                            "type": "documentDeletion", "enqueuedAt": "2026-11-23T00:00:00Z"})

    @route("GET", "/tasks/{}")
    def task(self, number, **_):
        task = self.tasks[int(number)]
        task["looks"] += 1
        if int(number) == 0 and task["looks"] == 2:
            task["status"] = "failed"
        if task.get("status") == "failed":
            return Answer(200, {"uid": int(number), "status": "failed", "error": {"code": "internal"},
                                "details": {"providedIds": 1, "deletedDocuments": 0}})
        if task["looks"] < 2:
            return Answer(200, {"uid": int(number), "status": "processing",
                                "details": {"providedIds": 1, "deletedDocuments": None}})
        gone = self.things.pop(task["document"], None)
        return Answer(200, {"uid": int(number), "status": "succeeded",
                            "details": {"providedIds": 1, "deletedDocuments": 1 if gone else 0}})
