"""An API without a vendor, for the tests of the kind itself."""
from . import signature
from .vendor import Answer, Base, route


class Vendor(Base):
    def fill(self):
        number = 0
        for owner in [self.user] + self.lookalikes():
            for _ in range(7):
                number += 1
                self.things[f"d{number:03}"] = {"owner": owner}
        self.jobs = {}
        self.keys = {}

    def is_allowed(self, method, headers):
        if headers.get("Authorization", "").startswith("AWS4-"):
            return signature.is_right(method, *self.raw, headers)
        return super().is_allowed(method, headers)

    def owned(self, user):
        return sorted(name for name, thing in self.things.items() if thing["owner"] == user)

    # A search that finds more than it was asked for, a page at a time.

    @route("GET", "/documents")
    def documents(self, query, **_):
        wanted = query.get("owner")
        found = sorted(n for n, t in self.things.items() if wanted is None or wanted in t["owner"])
        after = query.get("after", "")
        page = [name for name in found if name > after][:3]
        more = bool(page) and found[-1] != page[-1]
        body = {"data": [{"id": name, "owner": self.things[name]["owner"]} for name in page], "more": more}
        if more:
            body["next"] = page[-1]
            body["next_url"] = f"{self.base}/documents?owner={wanted}&after={page[-1]}"
        return Answer(200, body)

    @route("GET", "/numbered/{}")
    def numbered(self, number, query, **_):
        found = self.owned(query.get("owner"))
        start = (int(number) - 1) * 3
        return Answer(200, {"data": [{"id": name} for name in found[start:start + 3]]})

    @route("GET", "/linked")
    def linked(self, query, **_):
        found = [n for n in self.owned(query["owner"]) if n > query.get("after", "")]
        headers = []
        if found[3:]:
            url = f"{self.base}/linked?owner={query['owner']}&after={found[2]}"
            headers = [("Link", f'<{self.base}/linked>; rel="self"'), ("Link", f'<{url}>; rel="next"')]
        return Answer(200, {"data": [{"id": name} for name in found[:3]]}, tuple(headers))

    @route("GET", "/elsewhere")
    def elsewhere(self, query, **_):
        found = self.owned(query["owner"])[:1]
        return Answer(200, {"data": [{"id": name} for name in found],
                            "next": "https://localhost:1/steal" if found else None})

    # Lists that do not come as a whole.

    @route("GET", "/broken/{}")
    def broken(self, kind, query, **_):
        after = query.get("after", "1")
        if kind == "absent" or kind == "expired" and after != "1":
            return Answer(404, {"code": "absent"})
        if kind == "null":
            return Answer(200, {"data": None, "errors": [{"message": "internal error"}]})
        following = "B" if after == "A" else "A"
        owner = ["nobody", "ann"] if kind == "shared" else "nobody"
        return Answer(200, {"data": [{"id": "d999", "owner": owner}], "next": following,
                            "next_url": f"{self.base}/broken/{kind}?after={following}"})

    @route("DELETE", "/documents/{}")
    def delete_document(self, name, **_):
        return Answer(204) if self.things.pop(name, None) else Answer(404, {"code": "absent"})

    # Users as a whole.

    @route("DELETE", "/users/{}")
    def delete_user(self, user, **_):
        names = self.owned(user)
        for name in names:
            del self.things[name]
        return Answer(200, {"deleted": len(names)}) if names else Answer(404, {"code": "absent"})

    @route("POST", "/erasures/{}")
    def erase_once(self, user, headers, **_):
        """Fails once, and goes on for the same key only: another one is another erasure."""
        key = headers.get("Idempotency-Key")
        if not key:
            return Answer(400, {"code": "key"})
        if user not in self.keys:
            self.keys[user] = key
            return Answer(500, {"code": "later"})
        if self.keys[user] != key:
            return Answer(409, {"code": "key"})
        names = self.owned(user)
        for name in names:
            del self.things[name]
        return Answer(200, {"deleted": len(names)})

    @route("GET", "/users/{}")
    def get_user(self, user, **_):
        names = self.owned(user)
        return Answer(200, {"id": user, "count": len(names)}) if names else Answer(404, {"code": "absent"})

    @route("GET", "/users")
    def users(self, query, **_):
        names = sorted({thing["owner"] for thing in self.things.values()})
        page = [name for name in names if name > query.get("after", "")][:2]
        more = bool(page) and page[-1] != names[-1]
        return Answer(200, {"data": [{"id": n} for n in page], "next": page[-1] if more else None})

    @route("POST", "/count")
    def count(self, data, **_):
        return Answer(200, {"count": len(self.owned(data["term"]["owner"]))})

    @route("POST", "/delete_by_query")
    def delete_by_query(self, data, **_):
        names = self.owned(data["term"]["owner"])
        for name in names:
            del self.things[name]
        return Answer(200, {"deleted": len(names)})

    @route("POST", "/form")
    def form(self, data, **_):
        return self.delete_by_query({"term": data})

    # Jobs: each is a line on somebody's bill.

    @route("POST", "/jobs")
    def start(self, data, **_):
        name = f"j{len(self.jobs) + 1}"
        self.jobs[name] = {"owner": data["user"], "looks": 0}
        return Answer(202, {"job": name})

    @route("GET", "/jobs")
    def list_jobs(self, query, **_):
        open_jobs = [n for n, j in self.jobs.items() if j["looks"] < 3]
        return Answer(200, {"jobs": [{"id": n, "user": self.jobs[n]["owner"]} for n in open_jobs]})

    @route("GET", "/jobs/{}")
    def job(self, name, **_):
        job = self.jobs[name]
        if self.is_held:
            return Answer(200, {"status": "running"})
        job["looks"] += 1
        if job["looks"] < 3:
            return Answer(200, {"status": "running"})
        names = self.owned(job["owner"])
        for thing in names:
            del self.things[thing]
        return Answer(200, {"status": "done", "deleted": len(names)})

    def others(self):
        return {**super().others(), "jobs": {n: j["owner"] for n, j in self.jobs.items() if j["owner"] != self.user}}
