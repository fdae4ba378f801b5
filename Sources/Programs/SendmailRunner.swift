import Subprocess

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
