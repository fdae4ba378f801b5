import Foundation
import Glibc
import Lifecycle
import PostgreSQL
import Synchronization

@testable import Stores

/// A real server in a folder of its own, on a Unix socket and with TLS on the loopback interface.
///
/// One for all tests of this process. It ends when its standard input does, so that nothing is left
/// however the tests end.
final class PostgreSQLServer: Sendable {
    static let shared = Result { try PostgreSQLServer() }

    let folder: String
    let port: UInt16
    private let process: Process
    private let input = Pipe()
    private let clients: PostgreSQLClients

    /// What psql and the tools around it cannot do without root: a server refuses to be root.
    private static let script = """
        set -eu; trap '' PIPE
        dir=$1 port=$2
        bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
        [ -n "$bin" ] || { echo "no PostgreSQL server: install the package postgresql"; exit 1; }
        as=
        if [ "$(id -u)" = 0 ]; then
            chown nobody "$dir"; as="setpriv --reuid=nobody --regid=nogroup --clear-groups"
        fi
        cd "$dir"
        # The one in /usr/bin is a wrapper, and slower.
        ln -s "$bin/psql" psql
        $as openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \\
            -subj /CN=localhost -addext subjectAltName=DNS:localhost \\
            -keyout server.key -out server.crt >log 2>&1
        $as "$bin/initdb" -D data -U owner -A trust -E UTF8 --locale=C.UTF-8 -N >>log 2>&1
        printf '%s\\n' 'local all,replication all trust' \\
            'hostssl all all localhost scram-sha-256' | $as tee data/pg_hba.conf >/dev/null
        $as "$bin/postgres" -D data -k "$dir" -p "$port" -c listen_addresses=localhost -c ssl=on \\
            -c ssl_cert_file="$dir/server.crt" -c ssl_key_file="$dir/server.key" -c fsync=off \\
            -c logging_collector=off </dev/null >>log 2>&1 &
        server=$!
        until $as "$bin/pg_isready" -q -h "$dir" -p "$port"; do
            kill -0 $server || { cat log; exit 1; }
        done
        echo ready || true  # also where whoever waits is gone
        cat >/dev/null || true
        kill -INT $server
        wait $server || true
        cd / && rm -rf -- "$dir"
        """

    private init() throws {
        folder = "/tmp/expunged-pg-\(getpid())-\(UInt16.random(in: 0...UInt16.max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        port = try LoopbackPort.take()
        clients = PostgreSQLClients("host=\(folder) port=\(port) user=owner dbname=postgres")
        process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-c", Self.script, "server", folder, "\(port)"]
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let said = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard said == "ready\n" else { throw ServerFailure(text: said) }
        _ = try psql("CREATE EXTENSION citext; CREATE ROLE eraser LOGIN PASSWORD 'correct horse'")
    }

    /// Runs SQL as the owner; columns are parted by `|`.
    @discardableResult
    func psql(_ sql: String) throws -> [String] { try clients.run(sql) }

    /// Runs SQL beside what comes next, until it ends by itself.
    func begin(_ sql: String) throws {
        let client = Process()
        client.executableURL = URL(fileURLWithPath: folder + "/psql")
        client.arguments = [
            "-XAtq", "-h", folder, "-p", "\(port)", "-U", "owner", "-d", "postgres", "-c", sql,
        ]
        client.standardOutput = FileHandle.nullDevice
        try client.run()
    }
}

struct ServerFailure: Error {
    let text: String
}

/// A schema of one test, with a store over it.
struct PostgreSQLFixture {
    let server: PostgreSQLServer
    let schema: String
    let notes = StandInNotes()

    /// Makes the tables by `sql`, with the new schema first in the search path.
    init(_ sql: String) throws {
        server = try PostgreSQLServer.shared.get()
        schema = "s\(UUID().uuidString.prefix(8).lowercased())"
        try server.psql("CREATE SCHEMA \(schema)")
        try self.sql(sql)
    }

    @discardableResult
    func sql(_ sql: String) throws -> [String] {
        try server.psql("SET search_path TO \(schema), public; \(sql)")
    }

    var socket: String { "host=\(server.folder) port=\(server.port) dbname=postgres" }

    func plan(
        _ rules: [TableRule],
        conninfo: String? = nil,
        tls: PostgreSQLStorePlan.TLS = .verifyFull,
        caFile: String? = nil,
        timeouts: (statement: Duration, lock: Duration) = (.seconds(300), .seconds(300))
    ) -> PostgreSQLStorePlan {
        PostgreSQLStorePlan(
            name: StoreName("app-pg"),
            conninfo: Secret(conninfo ?? "\(socket) user=owner"),
            schemas: [schema],
            rules: rules,
            tls: tls,
            caFile: caFile,
            statementTimeout: timeouts.statement,
            lockTimeout: timeouts.lock
        )
    }

    func store(
        _ rules: TableRule...,
        clock: StoreClock = .patient(),
        beforeStatement: (@Sendable (String) -> Bool)? = nil
    ) -> PostgreSQLStore {
        store(plan(rules), clock: clock, beforeStatement: beforeStatement)
    }

    func store(
        _ plan: PostgreSQLStorePlan,
        clock: StoreClock = .patient(),
        beforeStatement: (@Sendable (String) -> Bool)? = nil
    ) -> PostgreSQLStore {
        PostgreSQLStore(
            plan: plan,
            hasher: StandInHasher(),
            clock: clock,
            beforeStatement: beforeStatement
        )
    }

    /// A session of the application's own.
    func session() throws -> PostgreSQLSession {
        let uptime = StoreClock.patient().uptime
        let session = try PostgreSQLSession.open(plan([]), signal: nil, uptime: uptime)
        // It may be in a transaction for as long as a test takes.
        _ = try session.query("SET idle_in_transaction_session_timeout = 0")
        return session
    }
}
