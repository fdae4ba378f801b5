import Glibc
import Lifecycle
import Synchronization

@testable import Storage

/// A real server in a folder of its own, on a Unix socket.
///
/// One for all tests of this process. It ends when its standard input does, so that nothing is left
/// however the tests end.
final class StateServer: Sendable {
    static let shared = Result { try StateServer() }

    let folder: String
    /// Where the server's script reads commands.
    private let input: Int32
    /// Where it answers.
    private let output: Int32
    private let pid: pid_t
    private let count = Mutex(0)

    /// Restarts the server at each line of its standard input, and ends it with that.
    ///
    /// A server refuses to be root.
    private static let script = """
        set -eu; trap '' PIPE
        dir=$1
        bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
        [ -n "$bin" ] || { echo "no PostgreSQL server: install the package postgresql"; exit 1; }
        as=
        if [ "$(id -u)" = 0 ]; then
            chown nobody "$dir"; as="setpriv --reuid=nobody --regid=nogroup --clear-groups"
        fi
        cd "$dir"
        $as "$bin/initdb" -D data -U owner -A trust -E UTF8 --locale=C.UTF-8 -N >log 2>&1
        start() {
            $as "$bin/pg_ctl" -D data -w -t 60 -l server.log start -o "-k $dir -c fsync=off \\
                -c listen_addresses= -c max_connections=400 -c autovacuum=off \\
                -c full_page_writes=off -c shared_buffers=64MB" >>log 2>&1 \\
                || { cat log server.log; exit 1; }
        }
        start
        echo ready || true  # also where whoever waits is gone
        while read -r command; do
            $as "$bin/pg_ctl" -D data -w -m "$command" stop >>log 2>&1
            start
            echo ready || true  # also where whoever waits is gone
        done
        $as "$bin/pg_ctl" -D data -w -m immediate stop >>log 2>&1
        cd / && rm -rf -- "$dir"
        """

    init() throws {
        var template = Array("/tmp/expunged-state-pg-XXXXXX".utf8CString)
        let made = unsafe template.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return false }
            return unsafe mkdtemp(start) != nil
        }
        guard made else { throw ServerFailure(text: "no folder") }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let (commands, answers) = (try Self.makePipe(), try Self.makePipe())
        (input, output) = (commands.write, answers.read)
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, commands.read, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, answers.write, 1)
        unsafe posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        let arguments = Strings(["bash", "-c", Self.script, "server", folder])
        let environment = Strings(["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8"])
        var pid: pid_t = 0
        let result = unsafe posix_spawn(
            &pid,
            "/bin/bash",
            &actions,
            nil,
            arguments.pointers,
            environment.pointers
        )
        close(commands.read)
        close(answers.write)
        self.pid = pid
        guard result == 0 else { throw ServerFailure(text: "errno \(result)") }
        try awaitReady()
    }

    /// Waits for the end: one that nobody waits for stays a child of this process, and exit tests
    /// look at the first ended child only.
    deinit {
        close(input)
        close(output)
        var status: Int32 = 0
        while unsafe waitpid(pid, &status, 0) == -1, errno == EINTR {}
    }

    private static func makePipe() throws -> (read: Int32, write: Int32) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw ServerFailure(text: "no pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    private func awaitReady() throws {
        var said: [UInt8] = []
        var byte: UInt8 = 0
        while said.last != UInt8(ascii: "\n") {
            let count = unsafe read(output, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { break }
            said.append(byte)
        }
        guard said == Array("ready\n".utf8) else {
            throw ServerFailure(text: String(decoding: said, as: UTF8.self))
        }
    }

    /// Kills it in the middle of what it does, and starts it again.
    func crash() throws {
        let command = Array("immediate\n".utf8)
        _ = unsafe write(input, command, command.count)
        try awaitReady()
    }

    /// Runs a statement on a connection of its own.
    func run(_ sql: String, in schema: String) throws {
        let connection = PostgreSQLConnection(plan(schema: schema))
        try connection.connect()
        try connection.run(sql)
    }

    /// A plan over a schema that no other test has.
    func plan(
        host: String = "one",
        uptime: (@Sendable () -> Duration)? = nil
    ) -> PostgreSQLStatePlan {
        let number = count.withLock { count in
            count += 1
            return count
        }
        return plan(schema: "state_\(number)", host: host, uptime: uptime)
    }

    func plan(
        schema: String,
        host: String = "one",
        user: String = "owner",
        uptime: (@Sendable () -> Duration)? = nil
    ) -> PostgreSQLStatePlan {
        PostgreSQLStatePlan(
            conninfo: Secret("host=\(folder) dbname=\(schema) user=\(user)"),
            schema: schema,
            host: host,
            session: StateFixture.newID(),
            uptime: uptime ?? Self.uptime(slowedBy: 24)
        )
    }

    /// Time that goes on slowly, so that a machine that is held up ends no wait: 24 times make two
    /// minutes of the five seconds in which a session must be there.
    static func uptime(slowedBy factor: Int) -> @Sendable () -> Duration {
        let clock = ContinuousClock()
        let start = clock.now
        return { start.duration(to: clock.now) / factor }
    }
}

extension StateServer {
    private static let lane = PostgreSQLLane("tests", 0)

    /// A state for the next fixture, made beside the threads of all tests.
    static func prepare() async throws -> PreparedState {
        try await lane.perform { _ in
            let server = try shared.get()
            let plan = server.plan()
            try server.create(plan)
            return PreparedState(plan)
        }
    }

    /// Makes a database with the tables, and what tests take from SQLite.
    ///
    /// In one of its own no other test's snapshot keeps dead rows.
    func create(_ plan: PostgreSQLStatePlan) throws {
        let server = PostgreSQLConnection(self.plan(schema: "postgres"))
        try server.connect()
        try server.run("CREATE DATABASE \(plan.schema)")
        server.disconnect()
        try StateDatabase.create(plan)
        let connection = PostgreSQLConnection(plan)
        try connection.connect()
        try connection.run(
            """
            CREATE FUNCTION randomblob (bigint) RETURNS bytea LANGUAGE sql VOLATILE AS
            'SELECT substr(string_agg(uuid_send(gen_random_uuid()), NULL), 1, $1::int)
             FROM generate_series(0, $1 / 16)'
            """
        )
        try connection.run(
            """
            CREATE FUNCTION zeroblob (bigint) RETURNS bytea LANGUAGE sql IMMUTABLE AS
            'SELECT decode(repeat(''00'', $1::int), ''hex'')'
            """
        )
    }
}

/// A state that one fixture takes.
final class PreparedState: Sendable {
    private let plan: Mutex<PostgreSQLStatePlan?>

    init(_ plan: PostgreSQLStatePlan) { self.plan = Mutex(plan) }

    func take() -> PostgreSQLStatePlan? {
        plan.withLock { plan in
            defer { plan = nil }
            return plan
        }
    }
}

struct ServerFailure: Error {
    let text: String
}
