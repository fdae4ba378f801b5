import FoundationEssentials
import Sandbox
import TestSupport
import Testing

@Suite("The server")
struct SandboxServerTests {
    @Test("the directory keeps the key over a restart, and endpoint goes with the sandbox")
    func directory() async throws {
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("sandbox-test-\(UUID().uuidString)").path
        var configuration = SandboxConfiguration()
        configuration.directory = directory
        let first = try await SandboxServer.start(configuration: configuration)
        let endpoint = try String(
            contentsOf: URL(fileURLWithPath: "\(directory)/endpoint"),
            encoding: .utf8
        )
        #expect(endpoint == "\(first.baseURL)\n")
        #expect(first.appleKeyPEM.hasPrefix("-----BEGIN PRIVATE KEY-----"))
        let certificate = try String(contentsOfFile: first.authorityFile, encoding: .utf8)
        try await first.shutdown()
        #expect(!FileManager.default.fileExists(atPath: "\(directory)/endpoint"))
        let second = try await SandboxServer.start(configuration: configuration)
        #expect(second.appleKeyPEM == first.appleKeyPEM)
        #expect(try String(contentsOfFile: second.authorityFile, encoding: .utf8) != certificate)
        // The service runs as another user and reads the certificate.
        for (name, mode) in [("", 0o755), ("ca.pem", 0o644), ("endpoint", 0o644)] {
            #expect(try permissions("\(directory)/\(name)") == mode, "\(name)")
        }
        for name in ["apple-key.p8", "logs.jsonl"] {
            #expect(try permissions("\(directory)/\(name)") == 0o600, "\(name)")
        }
        try await second.shutdown()
        try FileManager.default.removeItem(atPath: directory)
    }

    private func permissions(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test("a temporary directory goes away with the sandbox")
    func temporary() async throws {
        let sandbox = try await SandboxServer.start()
        #expect(FileManager.default.fileExists(atPath: sandbox.authorityFile))
        try await sandbox.shutdown()
        #expect(!FileManager.default.fileExists(atPath: sandbox.directory))
    }

    @Test("a port in use is refused with a reason")
    func portInUse() async throws {
        let sandbox = try await SandboxServer.start()
        var configuration = SandboxConfiguration()
        configuration.port = sandbox.port
        let error = await #expect(throws: SandboxError.self) {
            try await SandboxServer.start(configuration: configuration)
        }
        #expect(error?.kind == .listen)
        try await sandbox.shutdown()
    }

    @Test("calls on many connections at once are all served, and a token is cut by one of them")
    func concurrency() async throws {
        try await SandboxFixture.with { fixture in
            let token = try fixture.sandbox.issueRefreshTokens(count: 1)[0].refreshToken
            let statuses = try await withThrowingTaskGroup { group in
                for _ in 0..<64 {
                    group.addTask { try await fixture.revoke(token).status }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses == Array(repeating: 200, count: 64))
            let outcomes = fixture.sandbox.log().map(\.outcome)
            #expect(outcomes.first == .revoked)
            #expect(outcomes.dropFirst().allSatisfy { $0 == .ignored })
            #expect(outcomes.count == 64)
        }
    }
}
