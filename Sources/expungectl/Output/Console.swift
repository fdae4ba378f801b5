import Control
import ControlClient
import Glibc

/// Standard output and standard error.
enum Console {
    /// Whether somebody watches standard output.
    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Writes text and a newline to standard output.
    static func write(_ text: String) { put(text, to: STDOUT_FILENO) }

    /// Writes text and a newline to standard error.
    static func writeError(_ text: String) { put(text, to: STDERR_FILENO) }

    /// Ends the program.
    static func exit(_ code: EndCode) { Glibc.exit(code.rawValue) }

    /// Ends the program with a reason and, if there is one, what to do about it.
    static func fail(_ message: String, hint: String?, code: EndCode) {
        writeError("error: \(message)")
        if let hint { writeError("hint: \(hint)") }
        exit(code)
    }

    /// Ends the program because a call failed.
    static func fail(_ error: ControlClientError) {
        let message: String
        if let problem = error.problem {
            message = "\(Table.harmless(problem.detail)) (\(Table.harmless("\(problem.code)")))"
            // A single fact is mostly the problem itself.
            for fact in problem.errors ?? [] where !problem.detail.hasSuffix(fact.message) {
                let place = fact.field.map { "\($0): " } ?? ""
                writeError("error: \(Table.harmless(place + fact.message))")
            }
        } else {
            message = error.description
        }
        fail(message, hint: error.hint, code: error.endCode)
    }

    private static func put(_ text: String, to descriptor: Int32) {
        var bytes = Array((text + "\n").utf8)[...]
        while !bytes.isEmpty {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.write(descriptor, buffer.baseAddress, buffer.count)
            }
            // Nobody reads any more (a closed pipe); there is no better place to say so.
            guard count > 0 || errno == EINTR else { return }
            bytes = bytes.dropFirst(max(0, count))
        }
    }
}
