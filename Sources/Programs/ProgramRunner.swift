import Encoding
package import Engine
package import HTTP
import Lifecycle
import Subprocess

/// Runs a configured program: one JSON request on its standard input, one JSON answer on its
/// standard output.
///
/// No shell. Other processes can read arguments and environment (proc(5)), so these hold no secret
/// and no personal data.
package struct ProgramRunner: Sendable {
    /// Bytes of an answer; tokens are 8 KiB at most, and there are three of them.
    package static let outputMax = 65_536

    private let run: ProgramRun

    /// `nil` when the path is not absolute.
    ///
    /// `timeout` bounds the whole life of one run, and `memoryMax` the bytes of private memory of
    /// each process (`RLIMIT_DATA`, getrlimit(2)).
    package init?(
        program: String,
        arguments: [String],
        timeout: Duration,
        memoryMax: Int? = nil,
        sleep: @escaping Sleep = BootClock.sleeping
    ) {
        guard program.hasPrefix("/") else { return nil }
        run = ProgramRun(
            program: program,
            arguments: arguments,
            path: "/usr/local/bin:/usr/bin:/bin",
            timeout: timeout,
            memoryMax: memoryMax,
            sleep: sleep
        )
    }

    package func run(_ request: JSONBody) async -> ObjectReply {
        switch await run.end(input: request.bytes, output: .bytes(limit: Self.outputMax)) {
        case .exited(let status, let output): ObjectReply(status: status, output: output)
        case .cancelled: .failure(.unreachable)
        case .unusable: .failure(.misconfigured)
        case .lost: .failure(.lost)
        }
    }
}

extension ObjectReply {
    /// Classifies an exit status and an output; docs/providers/command.md is the contract.
    ///
    /// After any status but the two of sysexits.h(3) the program may have acted.
    init(status: Int32?, output: [UInt8]) {
        switch status {
        case 0:
            guard let json = JSONValue(output), case .object = json else {
                self = .failure(.unusable)
                return
            }
            self = .answer(json)
        // EX_UNAVAILABLE: the program promises that nothing was sent.
        case 69: self = .failure(.unreachable)
        // EX_CONFIG.
        case 78: self = .failure(.misconfigured)
        default: self = .failure(.lost)
        }
    }
}

/// Runs a sendmail(8): the message on its standard input, and its recipients in the message.
///
/// They are not arguments, since other processes can read those (proc(5)).
package struct SendmailRunner: Sendable {
    /// How a run ended.
    package enum Outcome: Hashable, Sendable {
        case exited(Int32)
        /// Nothing was started.
        case notRun
        /// Out of time, or ended by a signal: the message may have been taken.
        case lost
    }

    private let run: ProgramRun

    /// `sender` gets what bounces; `timeout` bounds the whole run.
    package init(program: String, sender: String, timeout: Duration) {
        run = ProgramRun(
            program: program,
            arguments: ["-t", "-i", "-f", sender],
            path: "/usr/sbin:/usr/bin:/sbin:/bin",
            timeout: timeout
        )
    }

    package func run(_ message: [UInt8]) async -> Outcome {
        switch await run.end(input: message, output: .discarded) {
        case .exited(let status, _): .exited(status)
        case .cancelled, .unusable: .notRun
        case .lost: .lost
        }
    }
}
