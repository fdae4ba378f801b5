import Foundation
import Glibc
import Testing

/// A replica of the test server, made by pg_basebackup, that replays the log as it comes.
///
/// It ends with ``close()``, or when its standard input does.
final class PostgreSQLStandby {
    private let primary: PostgreSQLServer
    private let folder: String
    private let port: UInt16
    private let process: Process
    private let input = Pipe()
    private let clients: PostgreSQLClients

    private static let script = """
        set -eu; trap '' PIPE
        dir=$1 port=$2 primary=$3 primary_port=$4
        bin=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1)
        as=
        if [ "$(id -u)" = 0 ]; then
            chown nobody "$dir"; as="setpriv --reuid=nobody --regid=nogroup --clear-groups"
        fi
        cd "$dir"
        $as "$bin/pg_basebackup" -h "$primary" -p "$primary_port" -U owner -D data -R -X stream \\
            -c fast >log 2>&1 || { cat log; exit 1; }
        $as "$bin/postgres" -D data -k "$dir" -p "$port" -c listen_addresses= -c fsync=off \\
            </dev/null >>log 2>&1 &
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

    /// Answers when the primary knows of it alone, and how far it is.
    ///
    /// The state `streaming` is not enough: the receiver of the base backup has it, too, and a
    /// standby has it before its first report (PostgreSQL 15, 28.2.4).
    init(of primary: PostgreSQLServer) throws {
        self.primary = primary
        folder = "/tmp/expunged-pg-standby-\(getpid())-\(UInt16.random(in: 0...UInt16.max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        port = UInt16.random(in: 20_000...29_000)
        clients = PostgreSQLClients("host=\(folder) port=\(port) user=owner dbname=postgres")
        process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = [
            "-c", Self.script, "standby", folder, "\(port)", primary.folder, "\(primary.port)",
        ]
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let said = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard said == "ready\n" else { throw ServerFailure(text: said) }
        let isFollowing = """
            (SELECT count(*) = 1 AND bool_and(state = 'streaming' AND replay_lsn IS NOT NULL)
            FROM pg_stat_replication)
            """
        try primary.psql(PostgreSQLServer.waiting(for: isFollowing))
    }

    /// Answers when the primary has none any more.
    func close() {
        input.fileHandleForWriting.closeFile()
        process.waitUntilExit()
        let isAlone = "NOT EXISTS (SELECT FROM pg_stat_replication)"
        do {
            try primary.psql(PostgreSQLServer.waiting(for: isAlone))
        } catch {
            Issue.record(error, "the primary still has a replica")
        }
    }

    @discardableResult
    func psql(_ sql: String) throws -> [String] {
        try clients.run(sql)
    }

    /// Stops replaying, and answers when that is so.
    func pause() throws {
        try psql("SELECT pg_wal_replay_pause()")
        try psql(PostgreSQLServer.waiting(for: "pg_get_wal_replay_pause_state() = 'paused'"))
    }

    func resume() throws { try psql("SELECT pg_wal_replay_resume()") }

    /// Replays each commit so much later.
    func delay(_ text: String) throws {
        try psql("ALTER SYSTEM SET recovery_min_apply_delay = '\(text)'")
        try psql("SELECT pg_reload_conf()")
    }
}

extension PostgreSQLServer {
    /// A statement that lets the server wait until a condition holds, two minutes at most.
    static func waiting(for condition: String) -> String {
        """
        DO $$ BEGIN FOR i IN 1..2400 LOOP
            IF \(condition) THEN RETURN; END IF;
            PERFORM pg_sleep(0.05), pg_stat_clear_snapshot();
        END LOOP; RAISE 'waited in vain'; END $$
        """
    }
}
