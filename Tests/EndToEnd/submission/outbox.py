"""A queue in the application's own PostgreSQL or MariaDB: submitted in the same transaction, or not at all.

Judged by the application's tables, the provider's log, and the rows of the queue as their owner sees them.
"""

import os
import re
import select
import subprocess
import threading
import time

from checks import HANG_S, comes_true
from hostile import alarmed, carried_out, said
from kills import open_requests
from sandbox import CLIENT, Sandbox
from scenario import scenario
from stage import BINARIES, ROOT, Stage
from store_servers import MySQL, PostgreSQL, keep_secret

EXAMPLES = os.path.join(ROOT, "Config/examples")
WAITS_S = 600
MANY = 20_000


class Restartable:
    """A server that an operator stops and starts again."""

    def launch(self, *command, **more):
        self.launched = (command, more)
        super().launch(*command, **more)

    def restart(self):
        self.launch(*self.launched[0], **self.launched[1])
        self.is_ready(self.answers)


class PostgreSQLQueue(Restartable, PostgreSQL):
    kind, prefix = "postgresql", "expunged."
    nap = "SELECT pg_sleep(0.03);"

    def answers(self):
        return self._psql("SELECT 1").returncode == 0

    def make_queue(self):
        self.sql("CREATE ROLE app LOGIN; CREATE ROLE expunged_queue LOGIN;"
                 "CREATE TABLE users (id text PRIMARY KEY); GRANT ALL ON users TO app")
        subprocess.run([*self._client(), "-v", "app=app", "-v", "queue=expunged_queue", "-f",
                        os.path.join(EXAMPLES, "queue-postgresql.sql")], check=True, capture_output=True)

    def section(self, stage):
        keep_secret(stage, "queue-conninfo", f"host={self.directory} dbname=postgres user=expunged_queue")
        return '[[queue]]\nname = "app"\nkind = "postgresql"\nconninfo_credential = "queue-conninfo"\n'

    def application(self):
        return ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-h", self.directory, "-U", "app", "-d", "postgres"]

    def session_command(self):
        return self._client()

    def drop_checks(self):
        for table in ("requests", "credentials"):
            for name in self.sql(f"SELECT conname FROM pg_constraint WHERE contype = 'c' AND conrelid = 'expunged.{table}'::regclass"):
                self.sql(f'ALTER TABLE expunged.{table} DROP CONSTRAINT "{name}"')

    def plant_trigger(self, name, body):
        self.sql(f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body}; RETURN NEW; END $$;"
                 f"CREATE TRIGGER {name} BEFORE UPDATE ON expunged.requests FOR EACH ROW EXECUTE FUNCTION {name}()")

    def drop_trigger(self, name):
        self.sql(f"DROP TRIGGER {name} ON expunged.requests; DROP FUNCTION {name}()")

    refusal = "RAISE EXCEPTION 'no'"

    def many(self, user):
        self.sql(f"INSERT INTO expunged.requests (kind, user_id) SELECT 'delete_account', '{user}' FROM generate_series(1, {MANY})")


class MySQLQueue(Restartable, MySQL):
    kind, prefix = "mysql", "expunged_"
    nap = "DO SLEEP(0.03);"

    def answers(self):
        return self._client("", "mysql").returncode == 0

    def make_queue(self):
        with open(os.path.join(EXAMPLES, "queue-mysql.sql")) as file:
            text = file.read()
        grants = [line.removeprefix("--").strip().replace("DATABASE", "app") for line in text.splitlines() if "   GRANT" in line]
        assert len(grants) == 3
        self.sql("CREATE USER app@localhost; CREATE USER expunged_queue@localhost;"
                 "CREATE TABLE users (id varchar(100) PRIMARY KEY)" + ";" + text + "".join(grants)
                 + "GRANT ALL ON app.* TO app@localhost")

    def section(self, stage):
        return (f'[[queue]]\nname = "app"\nkind = "mysql"\nsocket = "{self.socket}"\ndatabase = "app"\n'
                'username = "expunged_queue"\npoll_interval = "200ms"\n')

    def session_command(self):
        return self._command("app")

    def application(self):
        return ["mariadb", "--no-defaults", "-S", self.socket, "-u", "app", "-N", "-B", "--unbuffered", "app"]

    def drop_checks(self):
        for table in ("requests", "credentials"):
            for name in self.sql("SELECT constraint_name FROM information_schema.check_constraints WHERE constraint_schema = 'app'"
                                 f" AND table_name = 'expunged_{table}' AND level = 'Table'"):
                self.sql(f"ALTER TABLE expunged_{table} DROP CONSTRAINT `{name}`")
        self.sql("ALTER TABLE expunged_requests MODIFY kind varchar(40) NOT NULL, MODIFY user_id text NOT NULL,"
                 " MODIFY options text NOT NULL DEFAULT '{}'")

    def plant_trigger(self, name, body):
        self.sql(f"CREATE TRIGGER {name} BEFORE UPDATE ON expunged_requests FOR EACH ROW {body}")

    def drop_trigger(self, name):
        self.sql(f"DROP TRIGGER {name}")

    refusal = "SIGNAL SQLSTATE '45000'"

    def many(self, user):
        self.sql(f"INSERT INTO expunged_requests (kind, user_id) SELECT 'delete_account', '{user}' FROM seq_1_to_{MANY}")


class Queue:
    """What the application does with its database, as its own role."""

    def __init__(self, server):
        self.server = server
        self.requests, self.credentials = f"{server.prefix}requests", f"{server.prefix}credentials"

    def insert(self, user, secret=None):
        text = f"INSERT INTO {self.requests} (kind, user_id, idempotency_key) VALUES ('delete_account', '{user}', 'delete-{user}');"
        if secret:
            text = (f"INSERT INTO {self.credentials} (user_id, provider, client_id, kind, secret)"
                    f" VALUES ('{user}', 'apple', '{CLIENT}', 'refresh_token', '{secret}');") + text
        return text

    def run(self, text):
        """As the application, in one session."""
        done = subprocess.run(self.server.application(), input=text, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    def states(self):
        """The rows of requests that were not forged: how many in each state."""
        found = {}
        for line in self.server.sql(f"SELECT state FROM {self.requests}"):
            found[line] = found.get(line, 0) + 1
        return found

    def value(self, text):
        lines = self.server.sql(text)
        return lines[0] if lines else None


@scenario(long=True)
def outbox(checks, seed, kills=20):
    for kind in (PostgreSQLQueue, MySQLQueue):
        # A token that is checked once more after each kill would be throttled.
        sandbox = Sandbox(BINARIES, "--refresh-limit", "off")
        stage = Stage(checks, seed, sandbox)
        server = kind(stage.path("server"))
        try:
            server.make_queue()
            with open(stage.path("expunged.toml"), "a") as file:
                file.write(server.section(stage))
            queue = Queue(server)
            print(f"     {kind.kind}")
            if stage.starts():
                same_transaction(checks, stage, queue, kills)
                if kind is PostgreSQLQueue:
                    page(checks, stage, queue)
                for play in (out_of_order, repeated, restored, locked, malformed, forged, many_rows, planted, away):
                    play(checks, stage, queue)
                stage.scan()
        finally:
            stage.close()
            server.close()
            sandbox.close()


# The same transaction

def same_transaction(checks, stage, queue, count):
    users = stage.new_users(160)
    kept, bystanders = users[::4], stage.new_users(20)
    gone = [user for user in users if user not in kept]
    others = stage.checksum(but=gone)
    tokens = dict(zip(users, stage.new_tokens(len(users))))
    queue.run("".join(f"INSERT INTO users VALUES ('{user}');" for user in users + bystanders))
    text = ""
    for user in users:
        secret = tokens[user]["refresh_token"]
        text += (f"BEGIN; DELETE FROM users WHERE id = '{user}'; {queue.insert(user, secret)} {queue.server.nap}"
                 f"{'ROLLBACK' if user in kept else 'COMMIT'};\n")
    application = threading.Thread(target=queue.run, args=(text,))
    application.start()
    slow = 0
    for _ in range(count):
        time.sleep(stage.random.uniform(0, 0.5))
        stage.kill()
        stage.start()
        slow += not stage.comes_up()
    application.join(WAITS_S)
    checks.equal(f"{count} kill -9 while the application deletes and submits; it came up each time", slow, 0)
    checks.check(f"all {len(gone)} requests whose transaction was committed are completed, and no other", comes_true(
        lambda: queue.states() == {"completed": len(gone)}, WAITS_S, 0.5), (queue.states(), open_requests(stage)))
    left = queue.server.sql("SELECT id FROM users")
    checks.equal("the application's own rows are those of its transactions", sorted(left), sorted(kept + bystanders))
    erased, rows, live = stage.erased_at(), stage.rows_left(), stage.sandbox.live_grants("apple")
    lost = [user for user in gone if user in rows or tokens[user]["user"] in live]
    checks.check(f"of {len(gone)} users {len(lost)} are lost: rows left or a live token", not lost, lost[:3])
    wrong = [user for user in kept if user in erased or tokens[user]["user"] not in live]
    checks.check("a transaction that was rolled back asked for nothing", not wrong, wrong[:3])
    checks.equal("nobody else's rows are touched", stage.checksum(but=gone), others)
    requests = queue.server.sql(f"SELECT DISTINCT request_id FROM {queue.requests}")
    listed = stage.http("GET", "/v1/requests?limit=1000")[1]["items"]
    checks.equal("each row is one request, and there are no more", sorted(item["id"] for item in listed), sorted(requests))
    checks.equal("no secret is left in the queue", queue.value(
        f"SELECT count(*) FROM {queue.credentials} WHERE secret IS NOT NULL OR state <> 'sealed' OR user_id NOT LIKE 'sealed:%'"), "0")
    checks.equal("no user is left in the queue", queue.value(
        f"SELECT count(*) FROM {queue.requests} WHERE user_id NOT LIKE 'erased:%' OR idempotency_key IS NOT NULL"), "0")


# Concurrent, repeated and restored

def answered(session, text):
    """The line with which a client answers some statements, or nothing where it hangs."""
    session.stdin.write(text + "\n")
    session.stdin.flush()
    return session.stdout.readline().rstrip("\n") if select.select([session.stdout], [], [], HANG_S)[0] else None


def out_of_order(checks, stage, queue):
    """A transaction that took a lower id commits after others were read."""
    late, early = stage.new_users(2)
    token = stage.new_tokens(1)[0]
    session = subprocess.Popen(queue.server.application(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    answer = answered(session, f"BEGIN; {queue.insert(late, token['refresh_token'])} SELECT 'inserted';")
    checks.equal("a transaction has inserted its rows, and is open", answer, "inserted")
    queue.run(queue.insert(early))
    checks.check("a row is carried out while a transaction with a lower id is open",
                 comes_true(lambda: early not in stage.rows_left(), WAITS_S), stage.log()[-1500:])
    is_done(checks, stage, queue, "so is one after it")
    session.communicate("COMMIT;\n", timeout=WAITS_S)
    checks.check("a transaction that commits later with lower ids is carried out, its token revoked", comes_true(
        lambda: late not in stage.rows_left() and token["user"] not in stage.sandbox.live_grants("apple"), WAITS_S),
        stage.log()[-1500:])


def repeated(checks, stage, queue):
    user = stage.new_users(1)[0]
    queue.run(queue.insert(user))
    again = subprocess.run(queue.server.application(), input=queue.insert(user), capture_output=True, text=True)
    checks.check("an idempotency key that is used again fails the transaction, or its user is erased",
                 again.returncode != 0 or user not in stage.rows_left())
    checks.check("and the first one completes", comes_true(lambda: user not in stage.rows_left(), WAITS_S))


def restored(checks, stage, queue):
    """A backup of the application's database has the row as it was submitted."""
    user = stage.new_users(1)[0]
    stage.http("POST", "/v1/intake/pause")
    queue.run(queue.insert(user))
    row, made = queue.value(f"SELECT concat(max(id), ' ', max(created_at)) FROM {queue.requests}").split(" ", 1)
    stage.http("POST", "/v1/intake/resume")
    comes_true(lambda: queue.value(f"SELECT state FROM {queue.requests} WHERE id = {row}") == "completed", WAITS_S)
    request = queue.value(f"SELECT request_id FROM {queue.requests} WHERE id = {row}")
    stage.stop()
    queue.server.sql(f"UPDATE {queue.requests} SET state = 'submitted', request_id = NULL, detail = NULL, updated_at = NULL,"
                     f" user_id = '{user}', idempotency_key = 'delete-{user}', created_at = '{made}' WHERE id = {row}")
    stage.start()
    checks.check("the daemon is up again", stage.comes_up())
    checks.check("a row from a backup shows the request of before, and its user goes again", comes_true(
        lambda: queue.value(f"SELECT concat(state, request_id) FROM {queue.requests} WHERE id = {row} AND user_id LIKE 'erased:%'")
        == f"completed{request}", WAITS_S), queue.server.sql(f"SELECT state, request_id FROM {queue.requests} WHERE id = {row}"))
    found = [item for item in stage.http("GET", "/v1/requests?limit=1000")[1]["items"] if item["id"] == request]
    checks.equal("and there is one request", len(found), 1)


def locked(checks, stage, queue):
    """A program that keeps a lock on a row, as an application or a backup may."""
    first, second = stage.new_users(2)
    stage.http("POST", "/v1/intake/pause")
    queue.run(queue.insert(first))
    row = queue.value(f"SELECT max(id) FROM {queue.requests}")
    session = subprocess.Popen(queue.server.session_command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    # It has the lock when it has the row.
    answer = answered(session, f"BEGIN; SELECT id FROM {queue.requests} WHERE id = {row} FOR UPDATE;")
    checks.equal("a program has the lock on the row", answer, row)
    stage.http("POST", "/v1/intake/resume")
    queue.run(queue.insert(second))
    checks.check("requests are carried out while a program holds a lock on a row",
                 comes_true(lambda: not {first, second} & set(stage.rows_left()), WAITS_S), stage.log()[-1500:])
    session.communicate("COMMIT;\n", timeout=WAITS_S)
    checks.check("and their states are shown when it lets go", comes_true(lambda: queue.value(
        f"SELECT count(*) FROM {queue.requests} WHERE id >= {row} AND state = 'completed'") == "2", WAITS_S), queue.states())


# Hostile

def malformed(checks, stage, queue):
    queue.server.drop_checks()
    rows = {
        "delete_account', 'a' || chr(10) || 'b', '{}": "malformed_user_id",
        f"delete_account', '{'x' * 300}', '{{}}": "malformed_user_id",
        "delete_account', '', '{}": "malformed_user_id",
        "erase_all', 'somebody', '{}": "unknown_kind",
        "delete_account', 'somebody', '[]": "malformed_option",
        "delete_account', 'somebody', 'no json": "malformed_option",
        "delete_account', 'somebody', '{\"grace_s\": -1}": "malformed_option",
        "delete_account', 'somebody', '{\"everybody\": true}": "unknown_option",
    }
    if queue.server.kind == "mysql":
        rows = {text.replace("'a' || chr(10) || 'b'", "'a\\nb'"): reason for text, reason in rows.items()}
    first = int(queue.value(f"SELECT max(id) FROM {queue.requests}"))
    for text in rows:
        queue.server.sql(f"INSERT INTO {queue.requests} (kind, user_id, options) VALUES ('{text}')")
    checks.check("rows that violate the schema are rejected, each with its reason", comes_true(
        lambda: queue.server.sql(f"SELECT detail FROM {queue.requests} WHERE id > {first} AND state = 'rejected' ORDER BY id")
        == list(rows.values()), WAITS_S, 0.2),
        queue.server.sql(f"SELECT state, detail FROM {queue.requests} WHERE id > {first} ORDER BY id"))
    before = said(stage, "event=queue_irregular", "unreadable_rows")
    queue.server.sql(f"INSERT INTO {queue.requests} (kind, user_id) SELECT 'delete_account', repeat('x', 5000000)"
                     if queue.server.kind == "postgresql" else
                     f"ALTER TABLE {queue.requests} MODIFY user_id mediumtext NOT NULL;"
                     f"INSERT INTO {queue.requests} (kind, user_id) SELECT 'delete_account', repeat('x', 5000000)")
    checks.check("a huge row: an alarm says that it is left alone",
                 alarmed(stage, before, "event=queue_irregular", "unreadable_rows"), stage.log()[-1500:])
    is_done(checks, stage, queue, "a request is carried out beside it")
    queue.server.sql(f"DELETE FROM {queue.requests} WHERE length(user_id) > 100000")


def forged(checks, stage, queue):
    """States and requests that an application writes itself."""
    victim, user, other = stage.new_users(3)
    queue.server.sql(f"INSERT INTO {queue.requests} (kind, user_id, state) VALUES ('delete_account', '{victim}', 'accepted')")
    stage.http("POST", "/v1/intake/pause")
    queue.run(queue.insert(user))
    stage.http("POST", "/v1/intake/resume")
    row = queue.value(f"SELECT max(id) FROM {queue.requests}")
    comes_true(lambda: queue.value(f"SELECT state FROM {queue.requests} WHERE id = {row}") == "completed", WAITS_S)
    queue.server.sql(f"UPDATE {queue.requests} SET user_id = '{other}' WHERE id = {row}")
    is_done(checks, stage, queue, "a request is carried out beside forged ones")
    checks.check("a row that claims to be accepted is no request", victim in stage.rows_left())
    checks.check("a row that is changed after its end is no request", other in stage.rows_left() and user not in stage.rows_left())
    queue.server.sql(f"DELETE FROM {queue.requests} WHERE user_id IN ('{victim}', '{other}')")


def many_rows(checks, stage, queue):
    user, other = stage.new_users(2)
    queue.server.many(user)
    queue.run(queue.insert(other))
    begun = time.monotonic()
    checks.check(f"{MANY} rows of one user, and then one of another: that is carried out", comes_true(
        lambda: other not in stage.rows_left(), WAITS_S), stage.log()[-1500:])
    print(f"     after {time.monotonic() - begun:.1f} s")
    checks.check("all of them end", comes_true(lambda: set(queue.states()) <= {"completed", "rejected", "cancelled"}, WAITS_S * 2, 0.5),
                 queue.states())


def planted(checks, stage, queue):
    before = said(stage, "event=queue_unwritable")
    queue.server.plant_trigger("planted", queue.server.refusal)
    user = stage.new_users(1)[0]
    queue.run(queue.insert(user))
    checks.check("a trigger that refuses every change: an alarm says that the queue cannot be written",
                 alarmed(stage, before, "event=queue_unwritable"), stage.log()[-1500:])
    checks.check("     and the request is carried out", comes_true(lambda: user not in stage.rows_left(), WAITS_S))
    queue.server.drop_trigger("planted")
    checks.check("     its state is shown once the trigger is gone", comes_true(
        lambda: set(queue.states()) <= {"completed", "rejected", "cancelled"}, WAITS_S * 2, 0.5), queue.states())


def is_done(checks, stage, queue, what):
    user = stage.new_users(1)[0]
    queue.run(queue.insert(user))
    checks.check(what, comes_true(lambda: user not in stage.rows_left(), WAITS_S), stage.log()[-1500:])


# Away

def away(checks, stage, queue):
    before = said(stage, "event=queue_quarantined", "unreachable")
    queue.server.close()
    checks.check("the server of the queue is away: an alarm says so",
                 alarmed(stage, before, "event=queue_quarantined", "unreachable"), stage.log()[-1500:])
    carried_out(checks, stage, "     a request of the spool is carried out")
    metrics = stage.http("GET", "/metrics")[1].decode()
    checks.check("     a metric names the queue", 'expunged_queue_quarantined{queue="app"} 1' in metrics)
    queue.server.restart()
    user = stage.new_users(1)[0]
    queue.run(queue.insert(user))
    checks.check("     the queue is used again by itself", comes_true(
        lambda: user not in stage.rows_left() and set(queue.states()) <= {"completed", "rejected", "cancelled"}, WAITS_S, 0.2),
        (queue.states(), stage.log()[-1500:]))
    queue.server.close()
    stage.stop()
    stage.start()
    checks.check("the daemon starts without the server of the queue", stage.comes_up(), stage.log()[-1500:])
    carried_out(checks, stage, "     a request of the spool is carried out")
    queue.server.restart()
    is_done(checks, stage, queue, "     the queue is used once its server is there")
    checks.check("     its state is shown", comes_true(
        lambda: set(queue.states()) <= {"completed", "rejected", "cancelled"}, WAITS_S, 0.2), queue.states())


# What the guide prints

PAGE = os.path.join(ROOT, "docs/guides/submit-in-the-same-transaction.md")

RUBY = """
require "active_record"
ActiveRecord::Base.establish_connection(adapter: "postgresql", host: ARGV[0], username: "app", database: "postgres")
class ApplicationRecord < ActiveRecord::Base
  self.abstract_class = true
end
%s
User.find(ARGV[1]).destroy!
"""

PYTHON = """
import sys
import django
from django.conf import settings
settings.configure(DATABASES={"default": {
    "ENGINE": "django.db.backends.postgresql", "HOST": sys.argv[1], "USER": "app", "NAME": "postgres"}})
django.setup()
from django.db import models

class User(models.Model):
    id = models.TextField(primary_key=True)

    class Meta:
        app_label, db_table, managed = "app", "users", False
%s
delete_account(User.objects.get(pk=sys.argv[2]))
"""

NODE = """
%s
const { Pool } = require("pg");
const pool = new Pool({ host: process.argv[2], user: "app", database: "postgres" });
module.exports.deleteAccount(pool, process.argv[3]).then(() => pool.end(), (error) => {
  console.error(error.message);
  process.exit(1);
});
"""

GO = """
package main

import (
	"context"
	"database/sql"
	"log"
	"os"

	"accounts"
	_ "github.com/lib/pq"
)

func main() {
	db, err := sql.Open("postgres", "host="+os.Args[1]+" user=app dbname=postgres sslmode=disable")
	if err == nil {
		err = accounts.DeleteAccount(context.Background(), db, os.Args[2])
	}
	if err != nil {
		log.Fatal(err)
	}
}
"""


def page(checks, stage, queue):
    """The code of the page deletes and submits, or does neither."""
    with open(PAGE) as file:
        text = file.read()
    place = stage.path("page")
    for language, command in (("ruby", ["ruby", "-W0"]), ("python", ["/usr/bin/python3"]), ("js", ["node"]), ("go", None)):
        code = "\n".join(re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S))
        program = written(place, language, code, command)
        if language == "js" and run_node('require("pg")').returncode != 0:
            checks.skip("js: the module pg is not installed (scripts/setup campaigns)")
            continue
        if not isinstance(program, list):
            checks.check(f"{language}: the code of the page builds", False, program)
            continue
        done, refused = stage.new_users(2)
        queue.run(f"INSERT INTO users VALUES ('{done}'), ('{refused}')")
        first = run_page(program, queue, done)
        checks.check(f"{language}: the code of the page deletes the user and submits the request", first.returncode == 0
                     and queue.value(f"SELECT count(*) FROM users WHERE id = '{done}'") == "0", first.stderr[-1500:])
        checks.check(f"{language}: the request is carried out", comes_true(lambda: done not in stage.rows_left(), WAITS_S))
        # The key is taken, so that the second statement of the transaction fails.
        queue.server.sql(f"INSERT INTO {queue.requests} (kind, user_id, idempotency_key, state)"
                         f" VALUES ('delete_account', 'x', 'delete-{refused}', 'completed')")
        second = run_page(program, queue, refused)
        checks.check(f"{language}: if the request cannot be submitted, the user stays", second.returncode != 0
                     and queue.value(f"SELECT count(*) FROM users WHERE id = '{refused}'") == "1", second.stderr[-1500:])
        queue.server.sql(f"DELETE FROM {queue.requests} WHERE idempotency_key = 'delete-{refused}'")


NODE_MODULES = os.path.join(ROOT, ".build", "node-modules", "usr", "share", "nodejs")
MODULES = {**os.environ, "NODE_PATH": os.environ.get("NODE_PATH", NODE_MODULES)}


def run_node(code):
    return subprocess.run(["node", "-e", code], capture_output=True, env=MODULES)


def run_page(program, queue, user):
    return subprocess.run([*program, queue.server.directory, user], capture_output=True, text=True, timeout=HANG_S, env=MODULES)


def written(place, language, code, command):
    """The program that the page's code is a part of."""
    frame = {"ruby": RUBY, "python": PYTHON, "js": NODE}.get(language)
    os.makedirs(os.path.join(place, "src/accounts"), exist_ok=True)
    if frame:
        path = os.path.join(place, f"program.{language}")
        with open(path, "w") as file:
            file.write(frame.replace("%s", code))
        return [*command, path]
    for path, text in (("src/accounts/accounts.go", code), ("main.go", GO)):
        with open(os.path.join(place, path), "w") as file:
            file.write(text)
    built = subprocess.run(["go", "build", "-o", "program", "main.go"], cwd=place, capture_output=True, text=True, timeout=300, env={
        **os.environ, "GO111MODULE": "off", "GOPATH": f"{place}:/usr/share/gocode", "HOME": place, "CGO_ENABLED": "0"})
    return [os.path.join(place, "program")] if built.returncode == 0 else built.stderr
