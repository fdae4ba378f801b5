"""meilisearch.com/docs, "Delete documents at scale", tasks: 202 and a task, which may fail."""
import re
from .vendor import Answer, Base, route


class Vendor(Base):
    def fill(self):
        for number, owner in enumerate([self.user] * 3 + self.lookalikes()):
            self.things[f"d{number}"] = {"owner": owner}
        self.tasks = []

    def found(self, text):
        match = re.fullmatch(r'author_id = "([^"]*)"', text)
        return [n for n, t in self.things.items() if match and t["owner"] == match.group(1)]

    @route("POST", "/indexes/posts/documents/delete")
    def delete(self, data, **_):
        self.tasks.append({"filter": data["filter"], "looks": 0})
        return Answer(202, {"taskUid": len(self.tasks) - 1, "indexUid": "posts", "status": "enqueued",
                            "type": "documentDeletion", "enqueuedAt": "2026-11-23T00:00:00Z"})

    @route("GET", "/tasks/{}")
    def task(self, number, **_):
        task = self.tasks[int(number)]
        task["looks"] += 1
        if int(number) == 0 and task["looks"] == 2:
            task["status"] = "failed"
        if task.get("status") == "failed":
            return Answer(200, {"uid": int(number), "status": "failed", "details": {"deletedDocuments": 0},
                                "error": {"code": "internal"}})
        if task["looks"] < 2:
            return Answer(200, {"uid": int(number), "status": "processing", "details": {"deletedDocuments": None}})
        names = self.found(task["filter"])
        for name in names:
            del self.things[name]
        return Answer(200, {"uid": int(number), "status": "succeeded", "details": {"deletedDocuments": len(names)}})

    @route("POST", "/indexes/posts/documents/fetch")
    def fetch(self, data, **_):
        names = self.found(data["filter"])
        return Answer(200, {"results": [{"author_id": "x"}][:len(names)], "offset": 0, "limit": 1, "total": len(names)})
