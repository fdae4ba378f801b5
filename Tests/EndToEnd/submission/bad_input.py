"""What is wrong is refused with a clear error, and nothing else suffers from it."""

import os
import sqlite3
import subprocess

from canaries import canary
from checks import HANG_S, comes_true
from scenario import scenario
from stage import Stage


@scenario(gate={})
def bad_input(checks, seed):
    stage = Stage(checks, seed)
    stage.starts()
    refuse_bodies(checks, stage)
    refuse_rows(checks, stage)
    refuse_replays(checks, stage)
    use_key_twice(checks, stage)
    run_sealed(checks, stage)
    lose_database(checks, stage)
    give_advice(checks, stage)
    stage.scan()
    refuse_configuration(checks, stage)
    stage.close()


def refuse_bodies(checks, stage):
    marked = canary(stage.random)
    stage.canaries.add(marked)
    for what, body, code in (
            ("a user id of 300 bytes", {"user_id": marked + "x" * 276}, "malformed_user_id"),
            ("a NUL in the user id", {"user_id": f"{marked}\0b"}, "malformed_user_id"),
            ("an unknown kind", {"kind": marked, "user_id": marked}, "unknown_kind"),
            ("an unknown field", {"user_id": marked, "surprise": marked}, "unknown_field")):
        status, answer = stage.http("POST", "/v1/requests", {"kind": "delete_account", **body})
        checks.check(f"{what} is refused as {code}", status == 400 and answer["code"] == code, answer)
    status, answer = stage.http("PUT", f"/v1/users/{marked}/identities/nowhere", {
        "kind": "refresh_token", "secret": marked})
    checks.check("an unknown provider is refused",
                 status == 404 and answer["code"] == "unknown_provider", answer)


def refuse_rows(checks, stage):
    """A malformed row is rejected and scrubbed, and the one after it is carried out."""
    bad, good = canary(stage.random), stage.new_users(1)[0]
    secret = canary(stage.random)
    stage.canaries.add(secret)
    stage.spool_do(
        "INSERT INTO credentials (user_id, provider, kind, secret)"
        " VALUES (:user, 'nowhere', 'refresh_token', :secret)", user=bad, secret=secret)
    row = stage.spool_do(
        "INSERT INTO requests (kind, user_id, options)"
        """ VALUES ('delete_account', :user, '{"explode": 1}')""", user=bad)
    stage.spool_delete(good)
    checks.check("a row with an unknown option is rejected, the one after it carried out",
                 comes_true(lambda: stage.spool_rows("SELECT state FROM requests ORDER BY id")
                            == [("rejected",), ("completed",)]) and row == 1, stage.spool_rows("SELECT state, detail FROM requests"))
    checks.check("a credential for an unknown provider is rejected and scrubbed", comes_true(
        lambda: credentials(stage) == [("rejected", None)]), credentials(stage))


def credentials(stage):
    return stage.spool_rows("SELECT state, secret FROM credentials")


def refuse_replays(checks, stage):
    """A time that is wrong must not look as if all were erased again: applications start after that."""
    for what, arguments, words in (
            ("a replay of the future", ("--since", "2099-01-01T00:00:00Z"), "'since' is in the future"),
            ("a store that is restored in the future",
             ("--since", "2026-01-01T00:00:00Z", "--store", "app-db", "--restored-at", "2099-01-01T00:00:00Z"),
             "'restored_at' is in the future"),
            ("a time without a zone", ("--since", "2026-01-01T00:00:00"), "must be such as"),
            ("a replay of an unknown store", ("--since", "2026-01-01T00:00:00Z", "--store", "nowhere"),
             "no such store")):
        done = stage.run("expungectl", "replay", *arguments)
        checks.check(f"{what} is refused", done.returncode != 0 and words in done.stderr, done)
    done = stage.run("expungectl", "replay", "--since", "2026-01-01T00:00:00Z", "--store", "app-db", "--drill",
                     "--copy", "/nowhere/app.db")
    checks.check("a drill of a copy that is not there is no success",
                 done.returncode == 1 and "'/nowhere/app.db' does not exist" in done.stdout, done)


def use_key_twice(checks, stage):
    user, other = stage.new_users(2)
    first, again = stage.delete(user, "one-key"), stage.delete(user, "one-key")
    changed = stage.delete(other, "one-key")
    checks.check("one key is one request, another body is a conflict",
                 first[1]["id"] == again[1]["id"] and changed[0] == 409
                 and changed[1]["code"] == "idempotency_conflict")


def run_sealed(checks, stage):
    stage.stop()
    os.rename(stage.path("credentials/vault-key"), stage.path("vault-key"))
    stage.start()
    checks.check("without the vault key it starts sealed",
                 stage.comes_up() and stage.http("GET", "/v1/status")[1]["vault_sealed"])
    user, secret = stage.new_users(1)[0], canary(stage.random)
    stage.canaries.add(secret)
    calls = len(stage.sandbox.calls())
    taken = stage.delete(user)
    refused = stage.store(user, {"refresh_token": secret})

    def request():
        return stage.http("GET", f"/v1/requests/{taken[1]['id']}")[1]

    checks.check("sealed: requests are taken, secrets refused, nothing is sent",
                 taken[0] == 202 and refused[0] == 503
                 and comes_true(lambda: request().get("detail") == "vault_sealed")
                 and len(stage.sandbox.calls()) == calls)
    stage.stop()
    os.rename(stage.path("vault-key"), stage.path("credentials/vault-key"))
    stage.start()
    checks.check("with the key back it completes by itself", stage.comes_up()
                 and comes_true(lambda: request()["state"] == "completed"), request())


def lose_database(checks, stage):
    """A store that is away while the service runs, as with a mount or rights that somebody changes."""
    away = stage.app + ".away"
    user = stage.new_users(1)[0]
    os.rename(stage.app, away)
    taken = stage.delete(user)

    def request():
        return stage.http("GET", f"/v1/requests/{taken[1]['id']}")[1]

    checks.check("a database that is away is named in the request, which waits", comes_true(
        lambda: "unreachable" in str(request())), request())
    os.rename(away, stage.app)
    checks.check("with the database back it completes by itself", comes_true(
        lambda: request()["state"] == "completed"), request())


def give_advice(checks, stage):
    """What stops nothing is said, and fails nobody's pipeline."""
    stage.stop()
    with sqlite3.connect(stage.app, timeout=HANG_S) as app:
        app.execute("DROP INDEX posts_author")
    with open(stage.path("expunged.toml"), "a") as file:
        file.write('[[store.table]]\ntable = "erased"\ncolumn = "user"\naction = "keep"\n'
                   'keep_reason = "the judge of this test"\n')
    stage.starts()
    done = stage.run("expungectl", "stores", "check")
    checks.check("a check reports a column without an index, and ends with 0", done.returncode == 0 and (
        "\nadvice: column 'author_id' of table 'posts' has no index, so every purge reads the whole table;"
        " CREATE INDEX posts_author_id ON posts (author_id) mends that\n"
        in done.stdout), done)
    checks.check("and names the table that no time cutoff protects",
                 "\nadvice: there is no time cutoff (no created_at_column for posts): " in done.stdout, done)


def refuse_configuration(checks, stage):
    stage.stop()
    with open(stage.path("expunged.toml")) as file:
        text = file.read()
    with open(stage.path("app/notes.txt"), "w") as file:
        file.write("no database at all\n" * 100)
    for what, path, words in (
            ("a database that is not there", "app/nowhere.db", "does not exist"),
            ("a file that is no database", "app/notes.txt", "is no SQLite database")):
        with open(stage.path("expunged.toml"), "w") as file:
            file.write(text.replace(stage.app, stage.path(path)))
        stage.starts()
        checks.check(f"{what} pauses the store and is named",
                     comes_true(lambda: is_paused(stage, words)), stores(stage))
        stage.stop()
    with open(stage.path("expunged.toml"), "w") as file:
        file.write(text)
    begun = len(stage.log())
    stage.starts()
    checks.check("with the right one it goes on by itself", comes_true(
        lambda: stores(stage)[0]["state"] == "ready"), stage.log()[begun:])
    checks.check("a start with a paused store is no unclean stop", "unclean" not in stage.log()[begun:])
    stage.stop()
    with open(stage.path("credentials/vault-key")) as file:
        key = file.read()
    with open(stage.path("credentials/vault-key"), "w") as file:
        file.write("no key\n")
    done = subprocess.run(stage.arguments(), capture_output=True, text=True, timeout=HANG_S)
    checks.check("a vault key that is none stops the start and is named",
                 done.returncode == 78 and "'vault-key' (malformed_key): it is not base64" in done.stderr
                 and "hint: put the key in" in done.stderr, done.stderr)
    with open(stage.path("credentials/vault-key"), "w") as file:
        file.write(key)
    with open(stage.path("expunged.toml"), "a") as file:
        file.write('\n[[store.table]]\ntable = "nowhere"\ncolumn = "x"\naction = "delete"\n')
    stage.starts()
    checks.check("a missing table pauses the store and is named", comes_true(lambda: is_paused(stage, "nowhere")),
                 stores(stage))


def stores(stage):
    return stage.http("GET", "/v1/stores")[1]["items"]


def is_paused(stage, words):
    store = stores(stage)[0]
    return store["state"] == "paused" and any(words in finding for finding in store["findings"])
