"""The servers of the stores: others' where they can be had, and for each what its own client sees in it.

A store answers `items()`: a dictionary of everything that it holds, by name, with the content.
"""

import contextlib
import glob
import hashlib
import http.client
import http.server
import json
import os
import random
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import urllib.parse
import xml.etree.ElementTree

from checks import HANG_S, comes_true

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 3))
# Of whatever is drawn here and in the stand-ins; each stage seeds it.
SOURCE = random.Random(1)
# Ports that are kept for servers of ours.
KEPT = []
# Of the SQL stores.
TABLES = """[[store.table]]
table = "posts"
column = "author"
action = "delete"
[[store.table]]
table = "likes"
column = "owner"
action = "delete"
"""


def free_port():
    """A port that the kernel gives to nobody else: it stays bound, and a server with SO_REUSEADDR may listen on it."""
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.bind(("127.0.0.1", 0))
    KEPT.append(made)
    return made.getsockname()[1]


def make_certificate(directory):
    """A certificate for localhost that signs itself; answers its file and that of its key."""
    certificate, key = os.path.join(directory, "tls.pem"), os.path.join(directory, "tls-key.pem")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
         "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
         "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return certificate, key


def serve_over_tls(handler, certificate, key):
    """An HTTP server of this process on a port of its own; a connection that breaks is no event."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    server.handle_error = lambda *arguments: None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def owner_of(directory):
    """As whom a server runs, for `subprocess`: those of databases refuse root, so nobody gets the directory."""
    if os.getuid() != 0:
        return {}
    shutil.chown(directory, "nobody", "nogroup")
    os.chmod(os.path.dirname(directory), 0o711)
    return {"user": "nobody", "group": "nogroup", "extra_groups": []}


class Server:
    """A process that listens somewhere."""

    process = None
    # By which it ends, whoever is connected.
    end = signal.SIGTERM

    def launch(self, *command, **more):
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, **more)

    def is_ready(self, condition):
        is_there = comes_true(lambda: self.process.poll() is not None or condition(), pause=0.1)
        assert self.process.poll() is None, f"{type(self).__name__} ended: run scripts/setup test"
        assert is_there, f"{type(self).__name__} runs, and does not answer"

    @contextlib.contextmanager
    def frozen(self, user):
        """It answers nothing meanwhile: whoever asks it is in the middle of its work."""
        self.process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)

    @contextlib.contextmanager
    def locked(self, table):
        """Nobody else reads or writes the table meanwhile; for the servers of SQL."""
        session = self.session()
        try:
            session.stdin.write(self.lock.format(table) + " SELECT 'held';\n")
            session.stdin.flush()
            assert session.stdout.readline().strip() == "held"
            yield
        finally:
            session.communicate(timeout=HANG_S)

    def close(self):
        self.process.send_signal(self.end)
        try:
            self.process.wait(HANG_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Relay(threading.Thread):
    """Passes bytes on to a port and cuts a share of the connections, each somewhere in the middle."""

    def __init__(self, port, rate):
        super().__init__(daemon=True)
        self.to, self.rate, self.random = port, rate, random.Random(SOURCE.getrandbits(64))
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port, self.cuts, self.connections = self.listener.getsockname()[1], 0, 0
        self.start()

    def run(self):
        while True:
            try:
                near, _ = self.listener.accept()
                far = socket.create_connection(("127.0.0.1", self.to))
            except OSError:
                return
            self.connections += 1
            # TLS and its certificates take the first kilobytes.
            left = [self.random.randrange(500, 30_000) if self.random.random() < self.rate else 1 << 40]
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=self._pass, args=(source, sink, left), daemon=True).start()

    def _pass(self, source, sink, left):
        try:
            while data := source.recv(4096):
                left[0] -= len(data)
                if left[0] < 0:
                    self.cuts += 1
                    break
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self.listener.close()


class PostgreSQL(Server):
    """PostgreSQL on a socket; what it commits outlives a power cut only where that is measured."""

    end = signal.SIGINT
    lock = "BEGIN; LOCK TABLE {};"

    def __init__(self, directory, is_durable=False, copy_of=None, follows=False):
        """A copy of another server has what that one has now; it may follow it, as a standby."""
        self.directory = directory
        os.makedirs(directory)
        binaries = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
        assert binaries, "no PostgreSQL server: run scripts/setup test"
        self.user = owner_of(directory)
        data = os.path.join(directory, "data")
        if copy_of:
            fill = ["pg_basebackup", "-h", copy_of.directory, "-U", "owner", "-D", data, "-c", "fast", "-X", "stream"]
            fill += ["-R"] if follows else []
        else:
            fill = ["initdb", "-D", data, "-U", "owner", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-N"]
        subprocess.run([f"{binaries[-1]}/{fill[0]}", *fill[1:]], check=True, capture_output=True, cwd=directory,
                       **self.user)
        self.launch(f"{binaries[-1]}/postgres", "-D", data, "-k", directory, "-c", "listen_addresses=",
                    "-c", f"fsync={'on' if is_durable else 'off'}", cwd=directory, **self.user)
        self.is_ready(lambda: self._psql("SELECT 1").returncode == 0)

    def frozen(self, user):
        # Each session is a process of its own.
        return self.locked("likes")

    def crash(self):
        """Ends all of its processes at once; what was not durable is gone."""
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait(HANG_S)

    def _client(self):
        return ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-h", self.directory, "-U", "owner", "-d", "postgres"]

    def _psql(self, text):
        return subprocess.run(self._client(), input=text, capture_output=True, text=True)

    def session(self):
        """A client that stays, to write statements to."""
        return subprocess.Popen(self._client(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def sql(self, text):
        done = self._psql(text)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    def fill(self, user):
        return (f"INSERT INTO posts SELECT nextval('ids'), '{user}', 'post ' || n FROM generate_series(1, 20) n;"
                f"INSERT INTO likes SELECT id, '{user}' FROM posts WHERE author = '{user}';")

    def prepare(self, users):
        self.sql("CREATE SEQUENCE ids; CREATE TABLE posts (id bigint PRIMARY KEY, author text NOT NULL, body text);"
                 "CREATE INDEX ON posts (author);"
                 "CREATE TABLE likes (post bigint REFERENCES posts, owner text NOT NULL, PRIMARY KEY (post, owner));"
                 "CREATE INDEX ON likes (owner);" + "".join(map(self.fill, users)))

    def items(self):
        lines = self.sql("SELECT 'post ' || id || ' of ' || author, md5(body) FROM posts UNION ALL"
                         " SELECT 'like ' || post || ' of ' || owner, '' FROM likes")
        return dict(line.rsplit("|", 1) for line in lines)

    def disturb(self):
        """Ends every session of the daemon, wherever it is."""
        self.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                 " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()")

    def access(self, stage):
        keep_secret(stage, "pg-conninfo", f"host={self.directory} dbname=postgres user=owner")
        return 'kind = "postgresql"\nconninfo_credential = "pg-conninfo"\n'

    def section(self, stage):
        return self.access(stage) + TABLES


class MySQL(Server):
    """MariaDB, on a socket."""

    database = "app"
    lock = "LOCK TABLES {} WRITE;"

    def __init__(self, directory, is_durable=False, buffer_pool="64M"):
        self.directory, self.socket = directory, os.path.join(directory, "socket")
        os.makedirs(directory)
        assert shutil.which("mariadbd"), "no MariaDB server: run scripts/setup test"
        self.user = owner_of(directory)
        data = os.path.join(directory, "data")
        # A server that starts removes the temporary tables of any other in the same place.
        env = {**os.environ, "TMPDIR": directory}
        subprocess.run(["mariadb-install-db", "--no-defaults", f"--datadir={data}", "--skip-test-db",
                        "--auth-root-authentication-method=normal"],
                       check=True, capture_output=True, cwd=directory, env=env, **self.user)
        self.launch("mariadbd", "--no-defaults", f"--datadir={data}", f"--socket={self.socket}",
                    f"--pid-file={directory}/pid", "--skip-networking", f"--innodb-buffer-pool-size={buffer_pool}",
                    f"--innodb-flush-log-at-trx-commit={int(is_durable)}", cwd=directory, env=env, **self.user)
        self.is_ready(lambda: self._client("", "mysql").returncode == 0)
        self._client("CREATE DATABASE app CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", "mysql")

    def _command(self, database):
        return ["mariadb", "--no-defaults", "-S", self.socket, "-u", "root", "-N", "-B", "--unbuffered",
                "--default-character-set=utf8mb4", database]

    def _client(self, text, database):
        return subprocess.run(self._command(database), input=text, capture_output=True, text=True)

    def session(self):
        """A client that stays, to write statements to."""
        return subprocess.Popen(self._command(self.database), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                text=True)

    def sql(self, text):
        done = self._client(text, self.database)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    def fill(self, user):
        return (f"INSERT INTO posts (author, body) SELECT '{user}', concat('post ', seq) FROM seq_1_to_20;"
                f"INSERT INTO likes SELECT id, '{user}' FROM posts WHERE author = '{user}';")

    def prepare(self, users):
        self.sql("CREATE TABLE posts (id bigint AUTO_INCREMENT PRIMARY KEY, author varchar(60) NOT NULL, body text,"
                 " KEY (author)); CREATE TABLE likes (post bigint, owner varchar(60) NOT NULL,"
                 " PRIMARY KEY (post, owner), KEY (owner), FOREIGN KEY (post) REFERENCES posts (id));"
                 + "".join(map(self.fill, users)))

    def items(self):
        lines = self.sql("SELECT concat('post ', id, ' of ', author), md5(body) FROM posts UNION ALL"
                         " SELECT concat('like ', post, ' of ', owner), '' FROM likes")
        return dict(line.rsplit("\t", 1) for line in lines)

    def disturb(self):
        """Ends every session of the daemon, wherever it is."""
        found = self.sql("SELECT ID FROM information_schema.PROCESSLIST"
                         " WHERE ID <> CONNECTION_ID() AND USER = 'root'")
        # One may be gone already.
        self._client("".join(f"KILL {number};" for number in found), "mysql")

    def access(self, stage):
        return f'kind = "mysql"\nsocket = "{self.socket}"\ndatabase = "app"\nusername = "root"\n'

    def section(self, stage):
        return self.access(stage) + TABLES


class Redis(Server):
    RULES = """keys = ["user:{user_id}", "session:{user_id}:*"]
members = { "online" = "{user_id}", "names" = "{user_id}" }
"""

    def __init__(self, directory):
        os.makedirs(directory)
        self.directory, self.socket = directory, os.path.join(directory, "redis.sock")
        assert shutil.which("redis-server"), "no Redis: run scripts/setup test"
        self.serve()

    def serve(self):
        self.launch("redis-server", "--port", "0", "--unixsocket", self.socket, "--dir", self.directory,
                    "--save", "")
        self.is_ready(self._answers)

    def _answers(self):
        try:
            return self.cli("PING") == ["PONG"]
        except subprocess.CalledProcessError:
            return False

    def cli(self, *words, text=None):
        done = subprocess.run(["redis-cli", "-s", self.socket, *words], input=text, capture_output=True,
                              text=True, check=True)
        return done.stdout.splitlines()

    @staticmethod
    def commands(users):
        lines = []
        for user in users:
            lines += [f'SET "user:{user}" x', f'SADD online "{user}"', f'HSET names "{user}" x']
            lines += [f'SET "session:{user}:{number}" {number}' for number in range(20)]
        return "\n".join(lines) + "\n"

    def prepare(self, users):
        self.cli(text=self.commands(users))

    def items(self):
        names = [name for name in self.cli("KEYS", "*") if name]
        keys = [name for name in names if name not in ("online", "names")]
        found = dict(zip(keys, self.cli("MGET", *keys))) if keys else {}
        for name, command in (("online", "SMEMBERS"), ("names", "HKEYS")):
            if name in names:
                found.update({f"{name} {member}": "" for member in self.cli(command, name) if member})
        return found

    def disturb(self):
        self.cli("CLIENT", "KILL", "TYPE", "normal")

    def section(self, stage):
        return f"""kind = "redis"
socket = "{self.socket}"
{self.RULES}"""


class S3(Server):
    """moto, which believes every signature; versions are on."""

    NAMES = "{http://s3.amazonaws.com/doc/2006-03-01/}"
    # How many connections are cut.
    CUT_RATE = 0.2
    # For moto only the place of the key in the header counts.
    CREDENTIAL = ("AWS4-HMAC-SHA256 Credential=owner/20260101/us-east-1/s3/aws4_request,"
                  " SignedHeaders=host, Signature=0")

    def __init__(self, directory, certificate, key):
        os.makedirs(directory)
        python = os.path.join(ROOT, ".build/s3-server/bin/python3")
        assert os.path.exists(python), "no S3 server: run scripts/setup test"
        self.port, self.certificate = free_port(), certificate
        self.context = ssl.create_default_context(cafile=certificate)
        self.launch(python, os.path.join(ROOT, "Tests/S3Server/serve.py"), "-H", "127.0.0.1", "-p", str(self.port),
                    "-s", "-c", certificate, "-k", key)
        self.is_ready(self._answers)
        self.relay = Relay(self.port, self.CUT_RATE)

    def _answers(self):
        try:
            return self.call("GET", "/moto-api/") is not None
        except OSError:
            return False

    def call(self, method, path, body=None):
        connection = http.client.HTTPSConnection("localhost", self.port, timeout=HANG_S, context=self.context)
        connection.request(method, path, body, {"Authorization": self.CREDENTIAL})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        assert answer.status < 300, (method, path, answer.status, text[:300])
        return text

    def make_bucket(self):
        self.call("PUT", "/uploads")
        self.call("PUT", "/uploads?versioning",
                  "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>")

    def prepare(self, users):
        self.make_bucket()
        for user in users:
            name = urllib.parse.quote(user)
            for number in range(2):
                for version in ("old", "new"):
                    self.call("PUT", f"/uploads/users/{name}/{number}", f"{version} {user}")
            self.call("DELETE", f"/uploads/users/{name}/0")
            self.call("PUT", f"/uploads/avatars/{name}.png", "x")
            self.call("POST", f"/uploads/users/{name}/big?uploads")

    def _pages(self, query, names, after):
        more = ""
        while True:
            page = xml.etree.ElementTree.fromstring(self.call("GET", f"/uploads?{query}{more}"))
            for name in names:
                yield from page.iter(self.NAMES + name)
            if page.findtext(self.NAMES + "IsTruncated") != "true":
                return
            more = "".join(f"&{ask}=" + urllib.parse.quote(page.findtext(self.NAMES + name) or "")
                           for ask, name in after.items())

    def items(self):
        found = {}
        for entry in self._pages("versions", ("Version", "DeleteMarker"), {
                "key-marker": "NextKeyMarker", "version-id-marker": "NextVersionIdMarker"}):
            key, version, tag = (entry.findtext(self.NAMES + name) for name in ("Key", "VersionId", "ETag"))
            found[f"{key} {version}"] = tag
        for entry in self._pages("uploads", ("Upload",), {
                "key-marker": "NextKeyMarker", "upload-id-marker": "NextUploadIdMarker"}):
            found["upload " + entry.findtext(self.NAMES + "Key")] = entry.findtext(self.NAMES + "UploadId")
        return found

    def section(self, stage):
        keep_secret(stage, "s3-key", "canary-s3-owner-51c2")
        return f"""kind = "s3"
bucket = "uploads"
endpoint = "https://localhost:{self.relay.port}"
region = "us-east-1"
url_style = "path"
access_key_id = "owner"
secret_key_credential = "s3-key"
ca_file = "{self.certificate}"
prefixes = ["users/{{user_id}}/"]
objects = ["avatars/{{user_id}}.png"]
timeout = "30s"
"""

    def close(self):
        self.relay.close()
        super().close()


class DynamoDB(Server):
    """moto, which believes every signature; a partition per user, and an index by author."""

    CUT_RATE = 0.2
    # For moto only the place of the key in the header counts.
    CREDENTIAL = ("AWS4-HMAC-SHA256 Credential=owner/20260101/us-east-1/dynamodb/aws4_request,"
                  " SignedHeaders=host, Signature=0")
    OBJECTS = 3
    prefix = "live-"

    def __init__(self, directory, certificate, key):
        os.makedirs(directory)
        python = os.path.join(ROOT, ".build/s3-server/bin/python3")
        assert os.path.exists(python), "no DynamoDB server: run scripts/setup test"
        self.port, self.certificate = free_port(), certificate
        self.context = ssl.create_default_context(cafile=certificate)
        self.launch(python, "-B", os.path.join(ROOT, "Tests/DynamoDBServer/serve.py"), "-H", "127.0.0.1",
                    "-p", str(self.port), "-s", "-c", certificate, "-k", key)
        self.is_ready(self._answers)
        self.relay = Relay(self.port, self.CUT_RATE)

    def _answers(self):
        try:
            return self.call("ListTables", {}) is not None
        except OSError:
            return False

    def call(self, operation, body):
        connection = http.client.HTTPSConnection("localhost", self.port, timeout=HANG_S, context=self.context)
        connection.request("POST", "/", json.dumps(body), {
            "Authorization": self.CREDENTIAL, "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": f"DynamoDB_20120810.{operation}"})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        assert answer.status < 300, (operation, body, answer.status, text[:300])
        return json.loads(text)

    def make_tables(self):
        for table, indexes in (("profiles", []), ("posts", [{
                "IndexName": "author-index", "KeySchema": [{"AttributeName": "author", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "KEYS_ONLY"}}])):
            keys = ["pk", "sk"] + ["author"] * bool(indexes)
            more = {"GlobalSecondaryIndexes": indexes} if indexes else {}
            self.call("CreateTable", {
                "TableName": self.prefix + table, "BillingMode": "PAY_PER_REQUEST", **more,
                "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
                "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in keys]})

    def put(self, table, **item):
        self.call("PutItem", {"TableName": self.prefix + table,
                              "Item": {name: {"S": value} for name, value in item.items()}})

    def prepare(self, users):
        self.make_tables()
        self.fill(users)

    def fill(self, users):
        for user in users:
            for number in range(self.OBJECTS):
                self.put("profiles", pk=user, sk=str(number), at="2026-01-01T00:00:00Z", text=f"{number} of {user}")
                self.put("posts", pk=f"p{number} {user}", sk="post", author=user, at="2026-01-01T00:00:00Z")

    def items(self):
        found = {}
        for table in ("profiles", "posts"):
            after = {}
            while True:
                page = self.call("Scan", {"TableName": self.prefix + table, "ConsistentRead": True, **after})
                for item in page["Items"]:
                    # The id is last: a neighbour's begins like it.
                    found[f"{table} {item['sk']['S']} {item['pk']['S']}"] = json.dumps(item, sort_keys=True)
                if "LastEvaluatedKey" not in page:
                    break
                after = {"ExclusiveStartKey": page["LastEvaluatedKey"]}
        return found

    def section(self, stage):
        keep_secret(stage, "dynamodb-key", "canary-dynamodb-owner-51c2")
        return f"""kind = "dynamodb"
region = "us-east-1"
endpoint = "https://localhost:{self.relay.port}"
access_key_id = "owner"
secret_key_credential = "dynamodb-key"
ca_file = "{self.certificate}"
table_prefix = "live-"
items = ["profiles where pk == {{user_id}}", "posts by author-index where author == {{user_id}}"]
created_at_attributes = {{ profiles = "at", posts = "at" }}
timeout = "30s"
"""

    def close(self):
        self.relay.close()
        super().close()


class CloudStorage(Server):
    CUT_RATE = 0.2
    # A change takes that long, as at a real one, so that a kill finds users of whom a half is gone.
    CHANGE_S = 0.01
    OBJECTS = 4

    def __init__(self, directory):
        os.makedirs(directory)
        python = os.path.join(ROOT, ".build/cloud-storage-server/bin/python3")
        assert os.path.exists(python), "no emulator of Cloud Storage: run scripts/setup test"
        self.port = free_port()
        self.launch(python, os.path.join(ROOT, "Tests/CloudStorageServer/serve.py"), "start", "-H", "127.0.0.1",
                    "--port", str(self.port), "--in-memory", "--quiet", cwd=directory,
                    env=dict(os.environ, CHANGE_S=str(self.CHANGE_S)))
        self.is_ready(self._answers)
        self.relay = Relay(self.port, self.CUT_RATE)

    def _answers(self):
        try:
            return self.call("GET", "/") is not None
        except OSError:
            return False

    def call(self, method, path, body=None, kind="application/json"):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=HANG_S)
        connection.request(method, path, body, {"Content-Type": kind})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return text

    def prepare(self, users):
        self.call("POST", "/storage/v1/b", '{"name":"media"}')
        self.fill(users)

    def fill(self, users):
        for user in users:
            names = [f"users/{user}/{number}" for number in range(self.OBJECTS)] + [f"avatars/{user}.png"]
            for name in names:
                self.call("POST", "/upload/storage/v1/b/media/o?uploadType=media&name="
                          + urllib.parse.quote(name, safe=""), f"of {user}", "text/plain")

    def items(self):
        answer = json.loads(self.call("GET", "/storage/v1/b/media/o"))
        return {item["name"]: item.get("md5Hash") for item in answer.get("items", [])}

    def section(self, stage):
        return f"""kind = "google-cloud-storage"
bucket = "media"
emulator = true
base_url = "http://127.0.0.1:{self.relay.port}"
allow_plain_http = true
timeout_connect = "20s"
timeout_total = "60s"
prefixes = ["users/{{user_id}}/"]
objects = ["avatars/{{user_id}}.png"]
"""

    def close(self):
        self.relay.close()
        super().close()


class Files:
    FOLDERS = 10
    # Files of a user whose purge takes long enough to be met.
    MANY = 20_000

    def __init__(self, directory):
        self.root = directory
        os.makedirs(directory)

    def prepare(self, users):
        with open(os.path.join(self.root, ".expunged-root"), "w") as file:
            file.write("files\n")
        for user in users:
            for number in range(self.FOLDERS):
                deep = os.path.join(self.root, "files", user, *"abcd"[:number % 4], str(number))
                os.makedirs(deep)
                for name in "xyz":
                    with open(os.path.join(deep, name), "w") as file:
                        file.write(f"{name} of {user}")
            os.makedirs(os.path.join(self.root, "avatars"), exist_ok=True)
            with open(os.path.join(self.root, "avatars", f"{user}.png"), "w") as file:
                file.write(user)

    @contextlib.contextmanager
    def frozen(self, user):
        """Nothing can hold a file system, so the user has much to purge."""
        place = os.path.join(self.root, "files", user, "many")
        os.makedirs(place)
        for number in range(self.MANY):
            with open(os.path.join(place, str(number)), "w"):
                pass
        yield

    def items(self):
        found = {}
        for place, folders, names in os.walk(self.root):
            found.update({os.path.join(place, name): "folder" for name in folders})
            for name in names:
                try:
                    with open(os.path.join(place, name), "rb") as file:
                        found[os.path.join(place, name)] = hashlib.sha256(file.read()).hexdigest()
                except FileNotFoundError:
                    pass
        return found

    def section(self, stage):
        return f"""kind = "files"
root = "{self.root}"
paths = ["files/{{user_id}}", "avatars/{{user_id}}.png"]
"""

    def close(self):
        pass


def keep_secret(stage, name, text):
    path = stage.path(f"credentials/{name}")
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, 0o600)
