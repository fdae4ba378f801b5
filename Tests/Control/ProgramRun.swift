import Subprocess
import Testing

/// Runs the built `expungectl`.
enum ProgramRun {
    /// What one run left behind.
    struct Outcome: Equatable {
        var code: Int32
        var out: String
        var err: String
    }

    static func run(
        _ arguments: [String],
        socket: String = "/nowhere/control.sock",
        input: String = "",
        programs: String = "",
        path: String = ""
    ) async throws -> Outcome {
        let result = try await Subprocess.run(
            .name("expungectl"),
            arguments: .init(arguments),
            environment: .custom([
                "EXPUNGED_SOCKET": socket,
                "PATH": "\(programs)\(Repository.root)/.build/debug\(path)",
                "TZ": "UTC",
            ]),
            input: .string(input),
            output: .string(limit: 1 << 20),
            error: .string(limit: 1 << 20)
        )
        guard case .exited(let code) = result.terminationStatus else {
            throw TestFailure("killed")
        }
        return Outcome(
            code: code,
            out: result.standardOutput,
            err: result.standardError
        )
    }
}
