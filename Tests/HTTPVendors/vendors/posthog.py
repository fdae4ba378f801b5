"""posthog.com/docs/api/persons-3, "bulk_delete"; /docs/privacy/data-deletion: pages by `next`, which is
a URL; a filter that is not known is ignored, and all persons come.
"""
from .vendor import Answer, Base, route


class Vendor(Base):
    @route("POST", "/api/projects/4242/persons/bulk_delete")
    def delete(self, data, **_):
        if not data.get("distinct_ids") and not data.get("ids"):
            return Answer(400, {"type": "validation_error", "code": "invalid_input"})
        for name in [n for n, t in self.things.items() if t["owner"] in data["distinct_ids"]]:
            del self.things[name]
        return Answer(202)

    @route("GET", "/api/projects/4242/persons")
    def persons(self, query, **_):
        wanted = query.get("distinct_id")
        found = [n for n, t in sorted(self.things.items()) if wanted is None or t["owner"] == wanted]
        start = int(query.get("offset", 0))
        more = f"{self.base}/api/projects/4242/persons/?distinct_id={wanted}&offset={start + 2}"
        return Answer(200, {"next": more if found[start + 2:] else None, "previous": None,
                            "results": [{"id": n, "distinct_ids": [self.things[n]["owner"]]}
                                        for n in found[start:start + 2]]})
