import Encoding
import Foundation
import Glibc
import Lifecycle
import Logging
import NIOPosix

@testable import HTTP
@testable import Stores

/// An emulator of Cloud Storage (gcp-storage-emulator, from PyPI) on the loopback interface; it
/// knows neither generations nor pages.
///
/// One for all tests of this process. It ends when its standard input does, so that nothing is left
/// however the tests end.
final class CloudStorageServer: Sendable {
    static let shared = Result { try CloudStorageServer() }

    let port: UInt16
    private let process: Process
    private let input = Pipe()

    private static let script = """
        set -eu; trap '' PIPE
        port=$1 server=$2
        [ -x "$server" ] || { echo "no emulator of Cloud Storage: run scripts/setup test"; exit 1; }
        "$server" start -H 127.0.0.1 --port "$port" --in-memory --quiet </dev/null >/dev/null 2>&1 &
        pid=$!
        until curl -sS -o /dev/null "http://127.0.0.1:$port/" 2>/dev/null; do
            kill -0 $pid || { echo "the emulator of Cloud Storage ended"; exit 1; }
        done
        echo ready || true  # also where whoever waits is gone
        cat >/dev/null || true
        # The thread that started it may have had all signals blocked, so that only this ends it.
        kill -KILL $pid
        wait $pid || true
        """

    private init() throws {
        let server = URL(fileURLWithPath: #filePath)
            .appendingPathComponent(
                "../../../../.build/cloud-storage-server/bin/gcp-storage-emulator"
            )
            .standardized
        port = try LoopbackPort.take()
        process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-c", Self.script, "server", "\(port)", server.path]
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let said = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard said == "ready\n" else { throw ServerFailure(text: said) }
    }

    /// Makes a call by curl; the answer's body.
    @discardableResult
    func curl(
        _ method: String,
        _ path: String,
        _ body: String = "",
        type: String = "application/json"
    ) throws -> String {
        let client = Process()
        client.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
        client.arguments = [
            "-sS", "--fail-with-body", "-X", method, "--data-binary", body, "-H",
            "Content-Type: \(type)", "http://127.0.0.1:\(port)/\(path)",
        ]
        let output = Pipe()
        client.standardOutput = output
        client.standardError = output
        let text = String(decoding: try client.runToEnd(reading: output), as: UTF8.self)
        guard client.terminationStatus == 0 else { throw ServerFailure(text: text) }
        return text
    }
}

/// A bucket of one test, with a store over it.
struct CloudStorageFixture {
    let server: CloudStorageServer
    let bucket: String
    let store: CloudStorageStore
    private let client: GoogleClient

    /// Makes a bucket, and shuts the client down afterwards.
    static func with(
        prefixes: [String],
        objects: [String] = [],
        _ body: (CloudStorageFixture) async throws -> Void
    ) async throws {
        let fixture = try CloudStorageFixture(prefixes: prefixes, objects: objects)
        do {
            try await body(fixture)
        } catch {
            await fixture.client.shutdown()
            throw error
        }
        await fixture.client.shutdown()
    }

    private init(prefixes: [String], objects: [String]) throws {
        server = try CloudStorageServer.shared.get()
        bucket = "b\(UInt32.random(in: 0...UInt32.max))"
        try server.curl("POST", "storage/v1/b", "{\"name\":\"\(bucket)\"}")
        var settings = RemoteSettings(
            owner: .store(StoreName("objects")),
            allowsPlainLoopback: true
        )
        settings.timeoutConnect = .seconds(120)
        settings.timeoutTotal = .seconds(120)
        client = GoogleClient(
            client: try RemoteClient(
                settings,
                eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
                logger: Logger(label: "test")
            ),
            tokens: ServiceAccountTokenSource(emulatorWith: { FilesFixture.now() }),
            now: { FilesFixture.now() }
        )
        let session = GoogleSession(
            client: client,
            settings: settings,
            clock: .patient(wall: FilesFixture.now())
        )
        store = CloudStorageStore(
            name: StoreName("objects"),
            templates: try prefixes.map { try KeyTemplate($0, isPrefix: true) }
                + objects.map { try KeyTemplate($0, isPrefix: false) },
            session: session,
            bucket: try CloudBucket(bucket, at: "http://127.0.0.1:\(server.port)", session)
        )
    }

    func put(_ names: String...) throws {
        for name in names {
            let place = "upload/storage/v1/b/\(bucket)/o?uploadType=media"
            let path = "\(place)&name=\(PercentEncoding.encode(name))"
            try server.curl("POST", path, "x", type: "text/plain")
        }
    }

    /// The names of all objects, sorted.
    var names: [String] {
        get throws {
            let answer = JSONValue(Array(try server.curl("GET", "storage/v1/b/\(bucket)/o").utf8))
            return (answer?["items"]?.array ?? []).compactMap { $0["name"]?.string }.sorted()
        }
    }
}
