"""A client of the control socket."""

import datetime
import http.client
import json
import socket

from checks import HANG_S, comes_true

GONE = (OSError, http.client.HTTPException, ValueError)


class Control:
    def __init__(self, path):
        self.path = path

    def ask(self, method, path, body=None, key=None):
        """(status, decoded body); raises one of GONE without an answer."""
        connection = http.client.HTTPConnection("localhost", timeout=HANG_S)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.settimeout(HANG_S)
        try:
            connection.sock.connect(self.path)
            headers = {"Content-Type": "application/json"}
            if key:
                headers["Idempotency-Key"] = key
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read() or b"{}")
        finally:
            connection.close()

    def is_up(self):
        try:
            return self.ask("GET", "/v1/status")[0] == 200
        except GONE:
            return False

    def store(self, user, token):
        return self.ask("PUT", f"/v1/users/{user}/identities/sso", {
            "kind": "refresh_token", "secret": token, "client_id": "app"})[0]

    def delete(self, user):
        return self.ask("POST", "/v1/requests", {"kind": "delete_account", "user_id": user}, f"key-{user}")

    def replay(self, stores, since, restored_at):
        """Replays store by store, as `expungectl replay --since-file` does; answers the last states."""
        found = {}
        for store in stores:
            status, shown = self.ask("POST", "/v1/replay", {
                "since": rfc3339(since), "store": store, "restored_at": rfc3339(restored_at)})
            if status != 202:
                found[store] = f"{status} {shown.get('code')} {shown.get('detail')}"
                continue
            def is_over():
                nonlocal status, shown
                status, shown = self.ask("GET", "/v1/replay")
                return status == 200 and shown["state"] != "running"

            comes_true(is_over)
            found[store] = shown["state"] if status == 200 else status
        return found


def rfc3339(seconds):
    time_utc = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    return time_utc.strftime("%Y-%m-%dT%H:%M:%S.") + f"{time_utc.microsecond // 1000:03d}Z"
