"""Prometheus and Grafana accept what the service ships: metrics, alert rules, and a dashboard.

A real Prometheus scrapes what the timer's unit would write, and answers every query of the dashboard.
"""

import http.server
import json
import os
import re
import shlex
import stat
import subprocess
import tempfile
import threading
import urllib.error
import urllib.parse
import urllib.request

from checks import HANG_S, comes_true
from scenario import scenario
from stage import ROOT, Stage

RULES = os.path.join(ROOT, "Config/prometheus-rules.yml")
DASHBOARD = os.path.join(ROOT, "Config/grafana-dashboard.json")
UNIT = os.path.join(ROOT, "systemd/expunged-metrics.service")
# What a panel may show nothing of: no notification came, and no request is open.
EMPTY = {"expunged_notifications_total", "expunged_next_deadline_timestamp_seconds"}
EMPTY_AT_FIRST = (*EMPTY, "> 0")


@scenario()
def monitoring(checks, seed):
    stage = Stage(checks, seed)
    try:
        if not stage.starts():
            return
        for user, token in zip(stage.new_users(2), stage.new_tokens(2)):
            stage.store(user, token)
            stage.delete(user)
        comes_true(lambda: stage.open_count() == 0, 60)
        said = stage.run("expungectl", "metrics")
        checks.equal("expungectl prints the metrics", said.returncode, 0)
        rules(checks)
        with tempfile.TemporaryDirectory() as place:
            text = as_written(checks, said.stdout, place)
            accepted(checks, text)
            measured(checks, text, stage)
            dashboard(checks, text, place)
    finally:
        stage.close()


def as_written(checks, metrics, place):
    """What the timer's unit writes: its own commands under its own umask, with these metrics."""
    with open(UNIT) as file:
        unit = file.read()
    with open(os.path.join(place, "said"), "w") as file:
        file.write(metrics)
    main = re.search(r"^ExecStart=/bin/sh -ec '(.*)'$", unit, re.M).group(1).replace("%%", "%")
    commands = [["/bin/sh", "-ec", main.replace("/usr/bin/expungectl metrics", 'cat "$RUNTIME_DIRECTORY/said"')]]
    for command in re.findall(r"^ExecStartPost=\+(.*)$", unit, re.M):
        commands.append(shlex.split(re.sub("/run/expunged-metrics|/var/lib/prometheus/node-exporter", place, command)))
    for command in commands:
        subprocess.run(command, env={**os.environ, "RUNTIME_DIRECTORY": place}, check=True,
                       umask=int(re.search(r"^UMask=(\d+)$", unit, re.M).group(1), 8))
    written = os.path.join(place, "expunged.prom")
    checks.equal("the exporter, which is another user, may read the file", stat.filemode(os.stat(written).st_mode), "-rw-r--r--")
    with open(written) as file:
        return file.read()


def accepted(checks, text):
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, timeout=HANG_S)
    checks.check("promtool accepts the metrics without a warning",
                 done.returncode == 0 and not (done.stdout + done.stderr).strip(), done.stdout + done.stderr)
    names = {re.sub(r"_(bucket|sum|count)$", "", name) for name in re.findall(r"^(expunged_\w+)", text, re.M)}
    for word in ("HELP", "TYPE"):
        described = set(re.findall(rf"^# {word} (\w+) \S", text, re.M))
        checks.equal(f"every metric has its {word}", sorted(names - described), [])


def measured(checks, text, stage):
    values = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))

    def total(name, **labels):
        return sum(float(value) for key, value in values.items() if key.split("{")[0] == name
                   and all(f'{label}="{wanted}"' in key for label, wanted in labels.items()))

    checks.equal("both deletions are in the histogram", total("expunged_erasure_duration_seconds_count"), 2)
    checks.equal("and took less than an hour", total("expunged_erasure_duration_seconds_bucket", le="3600"), 2)
    checks.check("calls of providers are counted with their duration",
                 total("expunged_provider_call_duration_seconds_count", outcome="success") >= 2, text)
    checks.check("verdicts are counted", total("expunged_verdicts_total") >= 2, text)
    checks.check("purges are counted with their duration", total("expunged_purge_duration_seconds_count") >= 1
                 and total("expunged_purge_duration_seconds_sum") > 0, text)
    checks.check("rows are counted", total("expunged_purged_rows_total", action="erased") >= 2, text)


def rules(checks):
    with open(os.path.join(ROOT, "Tests/Monitoring/rules-test.yml")) as file:
        text = file.read()
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as tests:
        tests.write(text.replace("RULES", RULES))
        tests.flush()
        for arguments in (("check", "rules", "--lint-fatal", RULES), ("test", "rules", tests.name)):
            done = subprocess.run(["promtool", *arguments], capture_output=True, text=True, timeout=HANG_S)
            checks.check(f"promtool {' '.join(arguments[:2])}", done.returncode == 0, done.stdout + done.stderr)
    with open(RULES) as file:
        alerts = re.findall(r"alert: (\w+)", file.read())
    checks.equal("the test of the rules names every alert", sorted(name for name in alerts if name not in text), [])


def dashboard(checks, text, place):
    with open(DASHBOARD) as file:
        panels = [panel for panel in json.load(file)["panels"] if panel["type"] != "row"]
    checks.equal("no panel covers another", overlaps(panels), [])
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
        checks.equal("the dashboard names metrics that exist", sorted(named - written - EMPTY), [])
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
                    f"{self.base}/api/v1/query?" + urllib.parse.urlencode({"query": expression}), timeout=HANG_S) as answer:
                return json.load(answer)["data"]["result"]
        except (urllib.error.URLError, ValueError):
            return None

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(HANG_S)
        self.log.close()
