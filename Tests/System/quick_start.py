"""docs/guides/quick-start.md: what it prints, done on a machine where nothing is installed."""

import json
import os
import re
import time

from checks import wait_for
from provider import Provider
from static import EXPOSURE_MAX, exposure

PAGE = "docs/guides/quick-start.md"
COMMANDS_MAX = 10
MINUTES_MAX = 3
# An ordinary user who may use sudo, and whose editor types what the page says.
READER = "ann"
EDITOR = "/usr/local/bin/types"
UNIT = "expunged-sandbox.service"
CONFIGURATION = "/etc/expunged/expunged.toml"
APP_SCHEMA = """
CREATE TABLE users (id TEXT PRIMARY KEY, email TEXT);
CREATE TABLE posts (id INTEGER PRIMARY KEY, author_id TEXT NOT NULL REFERENCES users (id), body TEXT);
INSERT INTO users VALUES ('user-4711', 'x@example.com'), ('user-4712', 'y@example.com');
INSERT INTO posts (author_id, body) VALUES ('user-4711', 'a'), ('user-4712', 'b');
"""


def each_command(block):
    """The commands of a block, each with its further lines."""
    return [command.strip() for command in re.split(r"^\$ ", block, flags=re.M)[1:]]


class QuickStart:
    def __init__(self, checks, machine, packages):
        self.checks = checks
        self.machine = machine
        self.packages = packages
        with open(os.path.join(packages.source, PAGE)) as file:
            self.parts = re.split(r"^## ", file.read(), flags=re.M)[1:]
        # What a reader puts in place of words in capitals.
        self.filled = {}

    def run(self):
        self.prepare()
        for name in ("sandbox", "rests", "apple", "links"):
            self.checks.scenario(f"{self.machine.release}: quick start, {name}", getattr(self, name))

    def prepare(self):
        self.machine.run("useradd", "--create-home", READER)
        self.machine.write(f"/etc/sudoers.d/{READER}", f"{READER} ALL=(ALL) NOPASSWD: ALL\n"
                           "Defaults env_keep += \"SYSTEMD_EDITOR\"\n", 0o440)
        for file in self.packages.first.values():
            self.machine.run("cp", file, f"/home/{READER}/")

    # Reading the page

    def steps(self, part):
        """(language, text, user) of each block, in order."""
        for found in re.finditer(r"^```(\w+)\n(.*?)^```", part, re.M | re.S):
            before = part[:found.start()].strip().split("\n\n")[-1]
            user = re.search(r"as the user `(\w+)`", " ".join(before.split()))
            yield found[1], found[2], user[1] if user else READER

    def commands(self, part):
        return [command for language, text, _ in self.steps(part) if language == "console"
                for command in each_command(text)]

    def follow(self, part, until=None):
        """Does what a part says, up to the command that begins with `until`; answers what each printed."""
        printed = {}
        for language, text, user in self.steps(part):
            if language == "toml":
                self.machine.run("tee", "--append", CONFIGURATION, input=self.at_stand_in(text))
            for command in each_command(text) if language == "console" else ():
                if until and command.startswith(until):
                    return printed
                printed[command] = self.command(part, command, user)
        return printed

    def command(self, part, command, user):
        for word, value in self.filled.items():
            command = re.sub(rf"\b{word}\b", lambda _: value(), command)
        if "systemctl edit" in command:
            ini = next(text for language, text, _ in self.steps(part) if language == "ini")
            self.machine.write("/usr/local/share/typed", ini)
            # systemd's first two lines say where its reader types.
            self.machine.write(EDITOR, "#!/bin/sh\nfor file; do :; done\nsed -i '2r /usr/local/share/typed' \"$file\"\n", 0o755)
            # It refuses to edit without a terminal.
            command = f"script --quiet --return --command '{command}' /dev/null"
        home = f"/home/{user}" if user == READER else "/"
        # apt asks whether to remove, and the reader says yes.
        done = self.machine.run("sh", "-c", f"cd {home} && export SYSTEMD_EDITOR={EDITOR} && {command}",
                                user=user, check=False, input="y\n", timeout=180)
        self.checks.check(f"{user}$ {' '.join(command.split())[:90]}", done.returncode == 0, done.stdout + done.stderr)
        if re.search("delete.account", command):
            found = re.search(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}", done.stdout)
            self.filled["ID"] = lambda: found[0]
        return done.stdout

    def rows(self, database, query):
        return self.machine.run("sqlite3", database, query).stdout.split()

    # Scenarios

    def sandbox(self):
        """Part 1: at most ten commands and three minutes from nothing to a receipt."""
        part = self.parts[0]
        commands = self.commands(part)
        last = next(i for i, command in enumerate(commands) if "expungectl receipt" in command)
        self.checks.check(f"the receipt is printed by command {last + 1}, at most {COMMANDS_MAX}",
                          last + 1 <= COMMANDS_MAX, commands)
        begin = time.monotonic()
        printed = self.follow(part, until="expunged-sandbox grants")
        took = time.monotonic() - begin
        if self.packages.is_timed:
            self.checks.check(f"it takes {took:.0f} s, at most {MINUTES_MAX} minutes", took <= MINUTES_MAX * 60)
        self.judge_receipt(printed["sudo expungectl receipt ID"])
        self.checks.equal("the rows of alice are gone, and those of bob stay", [
            self.rows("/var/lib/expunged/demo.db", query)
            for query in ("SELECT id FROM users", "SELECT author_id FROM posts")], [["bob"], ["bob"]])
        grants = json.loads(self.machine.run("expunged-sandbox", "grants", "--user", "alice").stdout)["grants"]
        self.checks.check("the grant of alice is gone at the provider",
                          grants and all(grant["state"] == "revoked" for grant in grants), grants)

    def judge_receipt(self, text):
        receipt = json.loads(text)
        self.checks.check("the receipt says that the deletion is completed and the grant revoked",
                          receipt["completed_at"] and [identity["revoked"] for identity in receipt["identities"]]
                          == [True], text)

    def rests(self):
        """What part 1 leaves: modes, the unit, a second setup; then the removal that the page prints."""
        run = self.machine.run
        self.checks.equal("files of the sandbox and the service have owners and modes", run(
            "stat", "-c", "%n %a", "/run/expunged-sandbox", "/run/expunged-sandbox/ca.pem",
            "/run/expunged-sandbox/apple-key.p8", "/etc/expunged/credentials/vault-key",
            CONFIGURATION).stdout.splitlines(), [
                "/run/expunged-sandbox 755", "/run/expunged-sandbox/ca.pem 644",
                "/run/expunged-sandbox/apple-key.p8 600", "/etc/expunged/credentials/vault-key 600",
                f"{CONFIGURATION} 644"])
        self.checks.equal("every user may read the sandbox's certificate", run(
            "cat", "/run/expunged-sandbox/ca.pem", user=READER, check=False).returncode, 0)
        self.checks.equal("the sandbox does not start at boot", run(
            "systemctl", "is-enabled", UNIT, check=False).stdout.strip(), "disabled")
        score = exposure(run("systemd-analyze", "security", "--no-pager", UNIT, check=False).stdout)
        self.checks.check(f"exposure of {UNIT} is {score}", score is not None and score <= EXPOSURE_MAX)
        before = run("sha256sum", CONFIGURATION, "/etc/expunged/credentials/vault-key").stdout
        again = run("expunged", "setup", check=False)
        self.checks.check("a second setup keeps everything", again.returncode == 0 and again.stdout.count("kept ") == 2
                          and run("sha256sum", CONFIGURATION, "/etc/expunged/credentials/vault-key").stdout == before,
                          again.stdout + again.stderr)
        refused = run("expunged", "setup", user=READER, check=False)
        self.checks.equal("setup without root names sudo", (refused.returncode, "sudo expunged setup" in refused.stderr),
                          (64, True))
        setup = run("sh", "-c", "rm -r /etc/expunged; umask 0777; expunged setup", check=False)
        self.checks.equal("setup makes directories and files whatever the umask is", (setup.returncode, run(
            "stat", "-c", "%a %U", "/etc/expunged", "/etc/expunged/credentials",
            "/etc/expunged/credentials/vault-key", CONFIGURATION).stdout.splitlines()),
            (0, ["755 root", "700 root", "600 root", "644 root"]))
        commands = self.commands(self.parts[0])
        for command in commands[next(i for i, text in enumerate(commands) if "sandbox grants" in text):]:
            self.command(self.parts[0], command, READER)

    def apple(self):
        """Part 2, with a stand-in at the place of Apple: nothing of its package is on the machine."""
        run = self.machine.run
        self.provider = Provider(os.path.join(self.packages.release, "expunged-sandbox"))
        try:
            run("useradd", "--create-home", "--home-dir", "/srv/app", "app")
            run("sqlite3", "/srv/app/app.db", APP_SCHEMA, user="app")
            self.machine.write(f"/home/{READER}/AuthKey_KEY1234567.p8", self.provider.text("apple-key.p8"))
            self.machine.write("/usr/local/share/provider.pem", self.provider.text("ca.pem"))
            self.filled = {"CODE": lambda: self.provider.sign_in("user-4711")}
            part = self.parts[1]
            printed = self.follow(part, until="sudo expungectl receipt")
            show = next(command for command in printed if "expungectl show" in command)
            wait_for("the deletion", lambda: "completed" in self.machine.run(
                *show.replace("ID", self.filled["ID"]()).split(), user=READER).stdout, 60, 0.5)
            receipt = self.commands(part)[-1]
            self.judge_receipt(self.command(part, receipt, READER))
            self.checks.equal("the user's rows are gone, and those of another stay", [
                self.rows("/srv/app/app.db", query)
                for query in ("SELECT id FROM users", "SELECT author_id FROM posts")],
                [["user-4712"], ["user-4712"]])
            grants = self.provider.grants("user-4711")
            self.checks.check("the grant is gone at the provider",
                              grants and all(grant["state"] == "revoked" for grant in grants), grants)
        finally:
            self.provider.stop()

    def at_stand_in(self, text):
        """A printed configuration, with the address of the stand-in in Apple's section."""
        return text.replace('kind = "apple"\n', f'kind = "apple"\nbase_url = "{self.provider.endpoint}"\n'
                            'ca_file = "/usr/local/share/provider.pem"\n')

    def links(self):
        """The configuration as Kubernetes mounts it: a link to a link."""
        run = self.machine.run
        run("sh", "-ec", f"mkdir /etc/expunged/v1; mv {CONFIGURATION} /etc/expunged/v1/expunged.toml;"
            f"ln -s v1 /etc/expunged/data; ln -s data/expunged.toml {CONFIGURATION}")
        self.machine.systemctl("restart", "expunged")
        self.checks.equal("the service starts", self.machine.show("expunged.service", "ActiveState"), "active")
        run("chmod", "0666", "/etc/expunged/v1/expunged.toml")
        refused = run("expunged", "--check-config", check=False)
        self.checks.check("a store that every user may write is refused", refused.returncode == 78
                          and "chmod go-w" in refused.stderr, refused.stderr)
