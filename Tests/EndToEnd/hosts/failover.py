"""The server of the state dies under load: a standby with every commit takes its place, then some that lack commits.

Judged by the provider's own table of live tokens, the application's rows and the process.
"""

import sqlite3
import time

from checks import HANG_S, HOLDS_BARS, comes_true
from kills import Load
from sandbox import Sandbox
from scenario import scenario
from stage import BINARIES, ROWS_EACH, Stage
from standby import join
from store_servers import PostgreSQL

USERS = 60
# Leases of 5 s, and as long again for the service manager and the first connections.
GOES_ON_S = 20 if HOLDS_BARS else HANG_S


@scenario(bars=True)
def failover(checks, seed):
    # What is repeated after a failover would be throttled for a day.
    sandbox = Sandbox(BINARIES, "--refresh-limit", "off")
    stage = Stage(checks, seed, sandbox, state="postgresql")
    two = Stage(checks, seed + 1, sandbox)
    two.unjudged = "the first host is asked"
    servers = [stage.state_server]
    try:
        places = [stage.path(f"server-{number}") for number in range(4)]
        reach(stage, stage.state_server.directory, *places)
        stage.starts()
        promoted(checks, stage, servers)
        noticed_at_work(checks, stage, servers)
        noticed_at_start(checks, stage, servers)
        join(two, stage)
        reach(two, stage.state_server.directory, *places)
        noticed_by_another(checks, stage, two, servers)
    finally:
        two.stop()
        stage.close()
        two.close()
        for server in servers[1:]:
            server.close()
        sandbox.close()


def reach(stage, *places):
    """As the guide has it: all servers in one string; libpq takes the one that is written to."""
    with open(stage.path("credentials/state-conninfo"), "w") as file:
        file.write(f"host={','.join(places)} user=owner dbname=postgres")


def promoted(checks, stage, servers):
    """A synchronous standby has what was acknowledged."""
    primary = servers[0]
    standby = PostgreSQL(stage.path("server-0"), is_durable=True, copy_of=primary, follows=True)
    servers.append(standby)
    primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'; SELECT pg_reload_conf();")
    checks.check("a standby is synchronous", comes_true(
        lambda: primary.sql("SELECT sync_state FROM pg_stat_replication") == ["sync"], 20))
    users = stage.new_users(USERS)
    for user, token in zip(users, stage.new_tokens(USERS)):
        assert stage.store(user, token)[0] == 202
    load = Load(stage, users)
    load.start()
    comes_true(lambda: sum(user not in stage.rows_left() for user in users) > USERS // 4, 30, 0.01)
    begun = time.monotonic()
    primary.crash()
    standby.sql("SELECT pg_promote()")
    left = sum(user in stage.rows_left() for user in users)
    checks.check("the primary dies with work under way", left > 0, left)
    works = keeps_up(stage, lambda: len(load.ids) + len(load.rows) == USERS)
    checks.check(f"the promoted one is worked with within {GOES_ON_S} s", works, stage.log()[-2000:])
    print(f"     the last request is taken {time.monotonic() - begun:.1f} s after the crash")
    load.join()
    done = keeps_up(stage, lambda: not stage.rows_left(), HANG_S)
    checks.check("     and all that was acknowledged is carried out", done, stage.rows_left())
    states = {state for state, in stage.spool_rows("SELECT state FROM requests")}
    checks.check("     and shown in the spool", comes_true(
        lambda: {state for state, in stage.spool_rows("SELECT state FROM requests")} == {"completed"}, 30), states)
    found = {stage.http("GET", f"/v1/requests/{id}")[1].get("state") for id in load.ids.values()}
    checks.equal("     none was forgotten", found, {"completed"})


def noticed_at_work(checks, stage, servers):
    """A copy that lacks commits takes the place while the host works."""
    copy_and_complete(checks, stage, servers)
    servers[-2].crash()
    checks.check("the older one is noticed", is_rolled_back(stage), stage.log()[-2000:])
    purges_nothing(checks, stage)


def copy_and_complete(checks, stage, servers):
    """A copy of the server, and a deletion after it, which no checkpoint has yet."""
    checks.check("a request completes", completes(stage))
    servers.append(PostgreSQL(stage.path(f"server-{len(servers) - 1}"), is_durable=True, copy_of=servers[-1]))
    checks.check("     and another one, after the copy was made", completes(stage))


def noticed_at_start(checks, stage, servers):
    """The host is killed before it can notice."""
    copy_and_complete(checks, stage, servers)
    stage.kill()
    servers[-2].crash()
    checks.check("the older one is noticed after a restart", is_rolled_back(stage), stage.log()[-2000:])
    purges_nothing(checks, stage)


def noticed_by_another(checks, one, two, servers):
    """The host that lost commits is down, and another one works already when it comes back."""
    copy_and_complete(checks, one, servers)
    one.kill()
    servers[-2].crash()
    two.start()
    checks.check("another host works on the older one", keeps_up(two, lambda: ledger(two) == "sound", HANG_S),
                 two.log()[-2000:])
    one.start()
    checks.check("     until the first one comes back", is_rolled_back(two), two.log()[-2000:])
    checks.check("     which may not work", comes_true(lambda: one.daemon.poll() == 74, 20), one.log()[-600:])
    purges_nothing(checks, two, one)


def completes(stage):
    user = stage.new_users(1)[0]
    return (stage.delete(user)[0] == 202 and comes_true(lambda: user not in stage.rows_left(), 30)
            and comes_true(lambda: stage.open_count() == 0, 30))


def ledger(stage):
    return stage.http("GET", "/v1/ledger")[1]["state"]


def is_rolled_back(stage):
    return keeps_up(stage, lambda: ledger(stage) == "rolled_back", HANG_S)


def purges_nothing(checks, stage, owner=None):
    """Before an operator accepts the loss; `owner` has the application's database."""
    owner = owner or stage
    users = owner.new_users(3)
    ids = []
    for user in users:
        status, answer = stage.delete(user)
        checks.equal("     it takes a deletion", status, 202)
        ids.append(answer["id"])
    checks.check("     which waits", comes_true(lambda: all(
        stage.http("GET", f"/v1/requests/{request}")[1].get("detail") == "on_hold" for request in ids)),
        stage.http("GET", f"/v1/requests/{ids[0]}")[1])
    checks.equal("     which purges nothing", [owner.rows_left().get(user) for user in users], [ROWS_EACH] * 3)
    checks.equal("     an operator accepts", stage.http("POST", "/v1/ledger/accept-rollback")[0], 200)
    checks.check("     and it is carried out", keeps_up(stage, lambda: not owner.rows_left(), HANG_S), owner.rows_left())


def keeps_up(stage, condition, limit=GOES_ON_S):
    """Waits for it; a process that ended is started again, as systemd does."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if stage.daemon.poll() is not None:
            time.sleep(1)
            stage.start()
        try:
            if condition():
                return True
        except (OSError, KeyError, sqlite3.OperationalError):
            pass
        time.sleep(0.1)
    return False
