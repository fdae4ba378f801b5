import Control
import ControlClient
import Glibc

/// Standard output and standard error.
enum Console {
    /// Whether somebody watches standard output.
    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    static func write(_ text: String) { put(text, to: STDOUT_FILENO) }

    static func writeError(_ text: String) { put(text, to: STDERR_FILENO) }

    static func exit(_ code: EndCode) { Glibc.exit(code.rawValue) }

    static func fail(_ message: String, hint: String?, code: EndCode) {
        writeError("error: \(message)")
        if let hint { writeError("hint: \(hint)") }
        exit(code)
    }

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
