"""Prometheus and Grafana accept what the service ships: metrics, alert rules, and a dashboard.

A real Prometheus scrapes what the timer's unit would write, and answers every query of the dashboard.
"""

import http.server
import json
import os
import re
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

from checks import comes_true
from stage import ROOT, Stage

RULES = os.path.join(ROOT, "Config/prometheus-rules.yml")
DASHBOARD = os.path.join(ROOT, "Config/grafana-dashboard.json")
# What a panel may show nothing of until something happened.
EMPTY_AT_FIRST = ("expunged_notifications_total", "> 0")


def monitoring(checks, seed):
    stage = Stage(checks, seed)
    try:
        if not stage.starts():
            return
        for user in stage.new_users(2):
            stage.delete(user)
        comes_true(lambda: stage.open_count() == 0, 60)
        said = stage.run("expungectl", "metrics")
        checks.equal("expungectl prints the metrics", said.returncode, 0)
        rules(checks)
        with tempfile.TemporaryDirectory() as place:
            dashboard(checks, said.stdout, place)
    finally:
        stage.close()


def rules(checks):
    with open(os.path.join(ROOT, "Tests/Monitoring/rules-test.yml")) as file:
        text = file.read()
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as tests:
        tests.write(text.replace("RULES", RULES))
        tests.flush()
        for arguments in (("check", "rules", "--lint-fatal", RULES), ("test", "rules", tests.name)):
            done = subprocess.run(["promtool", *arguments], capture_output=True, text=True, timeout=60)
            checks.check(f"promtool {' '.join(arguments[:2])}", done.returncode == 0, done.stdout + done.stderr)
    with open(RULES) as file:
        alerts = re.findall(r"alert: (\w+)", file.read())
    checks.equal("the test of the rules names every alert", sorted(name for name in alerts if name not in text), [])


def dashboard(checks, metrics, place):
    with open(DASHBOARD) as file:
        panels = [panel for panel in json.load(file)["panels"] if panel["type"] != "row"]
    checks.equal("no panel covers another", overlaps(panels), [])
    # As the unit of the timer writes them: without comments, and with the time.
    text = "".join(line + "\n" for line in metrics.splitlines() if not line.startswith("#"))
    text += f"expunged_metrics_written_seconds {int(time.time())}\n"
    server = serve(text)
    try:
        with Prometheus(place, server.server_address[1]) as prometheus:
            if not checks.check("Prometheus scrapes the metrics", comes_true(
                    lambda: prometheus.ask("expunged_ledger_sound"), 60)):
                return
            for panel in panels:
                for target in panel["targets"]:
                    found = prometheus.ask(target["expr"])
                    may_be_empty = any(part in target["expr"] for part in EMPTY_AT_FIRST) or "increase(" in target["expr"]
                    checks.check(f"dashboard: {panel['title']}: {target['expr'][:60]}",
                                 found is not None and (found or may_be_empty), found)
        named = set(re.findall(r"expunged_[a-z_]+", " ".join(t["expr"] for p in panels for t in p["targets"])))
        written = set(re.findall(r"^(expunged_[a-z_]+)", text, re.M))
        checks.equal("the dashboard names metrics that exist", sorted(named - written - {"expunged_notifications_total"}), [])
    finally:
        server.shutdown()


def overlaps(panels):
    places = [(panel["title"], panel["gridPos"]) for panel in panels]
    return [(one, other) for index, (one, a) in enumerate(places) for other, b in places[index + 1:]
            if a["x"] < b["x"] + b["w"] and b["x"] < a["x"] + a["w"] and a["y"] < b["y"] + b["h"] and b["y"] < a["y"] + a["h"]]


def serve(text):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


class Prometheus:
    """A server of its own, with its data in a directory that goes."""

    def __init__(self, place, scraped):
        configuration = os.path.join(place, "prometheus.yml")
        with open(configuration, "w") as file:
            json.dump({"global": {"scrape_interval": "1s"}, "rule_files": [RULES], "scrape_configs": [
                {"job_name": "expunged", "static_configs": [{"targets": [f"127.0.0.1:{scraped}"]}]}]}, file)
        self.log = open(os.path.join(place, "log"), "w")
        # The port is read from the log: a free one of the system's choice.
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={configuration}", f"--storage.tsdb.path={place}/data",
             "--web.listen-address=127.0.0.1:0"], stdout=self.log, stderr=self.log)
        self.path = self.log.name
        self.base = None

    def __enter__(self):
        comes_true(self._has_port, 60)
        return self

    def _has_port(self):
        with open(self.path) as file:
            found = re.search(r"msg=\"?Listening on\"? address=(127\.0\.0\.1:\d+)", file.read())
        self.base = f"http://{found.group(1)}" if found else None
        return found

    def ask(self, expression):
        """The result of a query; nothing where it is refused."""
        try:
            with urllib.request.urlopen(
                    f"{self.base}/api/v1/query?" + urllib.parse.urlencode({"query": expression}), timeout=10) as answer:
                return json.load(answer)["data"]["result"]
        except (urllib.error.URLError, ValueError):
            return None

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)
        self.log.close()
