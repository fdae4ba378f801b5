import Foundation
import Glibc
import Lifecycle
import Synchronization

@testable import Stores

/// A real server in a folder of its own, on a Unix socket and with TLS on the loopback interface.
///
/// One for all tests of this process. It ends when its standard input does, so that nothing is left
/// however the tests end.
final class MySQLServer: Sendable {
    static let shared = Result {
        let server = try MySQLServer()
        try server.client(
            """
            CREATE USER eraser@'%' IDENTIFIED BY 'correct horse' REQUIRE SSL;
            CREATE USER limited@localhost; CREATE USER nobody@localhost IDENTIFIED BY 'x';
            """
        )
        return server
    }

    let folder: String
    let port: UInt16
    private let process: Process
    private let input = Pipe()
    private let clients: MySQLClients

    /// A server refuses to be root.
    private static let script = """
        set -eu; trap '' PIPE
        dir=$1 port=$2; shift 2
        command -v mariadbd >/dev/null || {
            echo "no MariaDB server: install the package mariadb-server"; exit 1; }
        as=
        if [ "$(id -u)" = 0 ]; then
            chown nobody "$dir"; as="setpriv --reuid=nobody --regid=nogroup --clear-groups"
        fi
        cd "$dir"
        # A server that starts removes the temporary tables of any other in the same place.
        export TMPDIR="$dir"
        $as openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \\
            -subj /CN=localhost -addext subjectAltName=DNS:localhost \\
            -keyout server.key -out server.crt >log 2>&1
        $as mariadb-install-db --no-defaults --datadir="$dir/data" --skip-test-db \\
            --auth-root-authentication-method=normal >>log 2>&1
        $as mariadbd --no-defaults --datadir="$dir/data" --socket="$dir/socket" --port="$port" \\
            --pid-file="$dir/pid" --bind-address=127.0.0.1 --skip-name-resolve=0 \\
            --ssl-cert="$dir/server.crt" --ssl-key="$dir/server.key" \\
            --innodb-flush-log-at-trx-commit=0 --innodb-buffer-pool-size=64M \\
            --innodb-fast-shutdown=2 "$@" </dev/null >>log 2>&1 &
        server=$!
        until mariadb-admin --no-defaults -S "$dir/socket" -u root ping >/dev/null 2>&1; do
            kill -0 $server || { cat log; exit 1; }
            sleep 0.05
        done
        echo ready || true  # also where whoever waits is gone
        cat >/dev/null || true
        kill $server
        wait $server || true
        cd / && rm -rf -- "$dir"
        """

    init(_ options: String...) throws {
        folder = "/tmp/expunged-my-\(getpid())-\(UInt16.random(in: 0...UInt16.max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        port = try LoopbackPort.take()
        clients = MySQLClients(socket: folder + "/socket")
        process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-c", Self.script, "server", folder, "\(port)"] + options
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let said = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard said == "ready\n" else { throw ServerFailure(text: said) }
    }

    var socket: String { folder + "/socket" }

    /// Runs SQL as root; columns are parted by `|`.
    @discardableResult
    func client(_ sql: String, in database: String = "mysql") throws -> [String] {
        try clients.run(sql, in: database)
    }
}

/// A database of one test, with a store over it.
struct MySQLFixture {
    let server: MySQLServer
    let database: String
    let notes = StandInNotes()

    /// Makes the tables by `sql` in a new database.
    init(_ sql: String, server: MySQLServer? = nil) throws {
        self.server = try server ?? MySQLServer.shared.get()
        database = "s\(UUID().uuidString.prefix(8).lowercased())"
        try self.server.client("CREATE DATABASE \(database) CHARACTER SET utf8mb4")
        try self.sql("SET sql_mode = 'NO_ENGINE_SUBSTITUTION'; SET time_zone = '+00:00'; " + sql)
    }

    @discardableResult
    func sql(_ sql: String) throws -> [String] { try server.client(sql, in: database) }

    var local: MySQLStorePlan.Place { .socket(server.socket) }

    func plan(
        _ rules: [TableRule],
        user: String = "root",
        place: MySQLStorePlan.Place? = nil,
        timeout: Duration = .seconds(300)
    ) -> MySQLStorePlan {
        var plan = MySQLStorePlan(
            name: StoreName("app-my"),
            place: place ?? local,
            username: user,
            database: database,
            rules: rules
        )
        plan.statementTimeout = timeout
        plan.lockTimeout = .seconds(300)
        return plan
    }

    func store(
        _ rules: TableRule...,
        clock: StoreClock = .patient(),
        beforeStatement: (@Sendable (String) -> Bool)? = nil
    ) -> MySQLStore {
        store(plan(rules), clock: clock, beforeStatement: beforeStatement)
    }

    func store(
        _ plan: MySQLStorePlan,
        clock: StoreClock = .patient(),
        beforeStatement: (@Sendable (String) -> Bool)? = nil
    ) -> MySQLStore {
        MySQLStore(
            plan: plan,
            hasher: StandInHasher(),
            clock: clock,
            beforeStatement: beforeStatement
        )
    }

    /// A session of the application's own.
    func session() throws -> MySQLSession {
        let uptime = StoreClock.patient().uptime
        let session = try MySQLSession.open(plan([]), signal: nil, uptime: uptime)
        // It may be in a transaction for as long as a test takes.
        try session.run("SET SESSION idle_transaction_timeout = 0, wait_timeout = 28800")
        return session
    }
}
