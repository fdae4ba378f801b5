import Foundation
import Glibc
import Lifecycle

@testable import Stores

/// A server that speaks S3 (moto, from PyPI) over TLS on the loopback interface.
///
/// One for all tests of this process. It ends when its standard input does, so that nothing is left
/// however the tests end.
final class S3Server: Sendable {
    static let shared = Result { try S3Server() }

    let folder: String
    let port: UInt16
    private let process: Process
    private let input = Pipe()

    private static let script = """
        set -eu; trap '' PIPE
        dir=$1 port=$2 server=$3
        [ -x "$server" ] || { echo "no S3 server: run scripts/setup test"; exit 1; }
        cd "$dir"
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \\
            -subj /CN=localhost -addext subjectAltName=DNS:localhost,DNS:\\*.localhost \\
            -keyout key.pem -out cert.pem >log 2>&1
        "$server" -H 127.0.0.1 -p "$port" -s -c cert.pem -k key.pem </dev/null >>log 2>&1 &
        pid=$!
        until curl -sS --cacert cert.pem "https://localhost:$port/moto-api/" >>log 2>&1; do
            kill -0 $pid || { tail -n 5 log; exit 1; }
        done
        echo ready || true  # also where whoever waits is gone
        cat >/dev/null || true
        # The thread that started it may have had all signals blocked, so that only this ends it.
        kill -KILL $pid
        wait $pid || true
        cd / && rm -rf -- "$dir"
        """

    private init() throws {
        folder = "/tmp/expunged-s3-\(getpid())-\(UInt16.random(in: 0...UInt16.max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let server = URL(fileURLWithPath: #filePath)
            .appendingPathComponent("../../../../.build/s3-server/bin/moto_server").standardized
        port = try LoopbackPort.take()
        process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-c", Self.script, "server", folder, "\(port)", server.path]
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let said = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard said == "ready\n" else { throw ServerFailure(text: said) }
    }

    /// Makes a call of S3 by curl, which signs by itself; the answer's body.
    @discardableResult
    func curl(
        _ method: String,
        _ path: String,
        _ body: String = "",
        headers: [String] = [],
        isRange: Bool = false
    ) throws -> String {
        let client = Process()
        client.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
        client.arguments =
            [
                "-sS", "--fail-with-body", isRange ? "--path-as-is" : "--globoff", "--path-as-is",
                "--cacert",
                "\(folder)/cert.pem", "--aws-sigv4", "aws:amz:us-east-1:s3", "--user",
                "owner:canary-s3-owner-51c2", "-X", method, "--data-binary", body,
                "-H", "Content-Type: application/octet-stream",
            ] + headers.flatMap { ["-H", $0] } + ["https://localhost:\(port)/\(path)"]
        let output = Pipe()
        client.standardOutput = output
        client.standardError = output
        let text = String(decoding: try client.runToEnd(reading: output), as: UTF8.self)
        guard client.terminationStatus == 0 else { throw ServerFailure(text: text) }
        return text
    }
}

/// A bucket of one test, with a store over it.
struct S3Fixture {
    let server: S3Server
    let bucket: String

    /// Makes the bucket; object lock brings versions along.
    init(versioned: Bool = true, isLocked: Bool = false) throws {
        server = try S3Server.shared.get()
        bucket = "b\(UInt32.random(in: 0...UInt32.max))"
        try server.curl(
            "PUT",
            bucket,
            headers: isLocked ? ["x-amz-bucket-object-lock-enabled: true"] : []
        )
        guard versioned, !isLocked else { return }
        try server.curl(
            "PUT",
            "\(bucket)?versioning",
            "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>"
        )
    }

    func put(_ keys: String..., headers: [String] = []) throws {
        for key in keys {
            let path = S3Client.encodedPath(key)
            try server.curl("PUT", "\(bucket)/\(path)", "x", headers: headers)
        }
    }

    /// All versions and markers, by `KEY`, sorted.
    var versions: [String] {
        get throws {
            let answer = XMLElement(Array(try server.curl("GET", "\(bucket)?versions").utf8))
            let entries = (answer?.all("Version") ?? []) + (answer?.all("DeleteMarker") ?? [])
            return entries.compactMap { $0["Key"]?.text }.sorted()
        }
    }

    func store(
        prefixes: [String] = [],
        keys: [String] = [],
        bucket: String? = nil,
        isPathStyle: Bool = true,
        trusts: Bool = true,
        pageSize: Int = 1000,
        behind: Duration = .zero,
        rest: @escaping @Sendable (Duration) async throws -> Void = { _ in }
    ) throws -> S3Store {
        let clock = StoreClock.patient(wall: FilesFixture.now() + (.zero - behind), rest: rest)
        let bucket = bucket ?? self.bucket
        let client = try S3Client(
            of: bucket,
            at: "https://localhost:\(server.port)",
            isPathStyle ? .path : .virtualHost
        ) { url in
            try AWSClient.patient(
                of: "s3",
                at: url,
                secret: "canary-s3-owner-51c2",
                caFile: trusts ? server.folder + "/cert.pem" : nil,
                now: clock.wall
            )
        }
        return S3Store(
            name: StoreName("objects"),
            templates: try prefixes.map { try KeyTemplate($0, isPrefix: true) }
                + keys.map { try KeyTemplate($0, isPrefix: false) },
            bucket: S3Bucket(client: client, name: bucket, pageSize: pageSize, now: clock.wall),
            clock: clock
        )
    }
}
