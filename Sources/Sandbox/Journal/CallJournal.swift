import Encoding
import Glibc
import NIOCore
import Synchronization

/// The log of every call: the newest ones in memory, all of them in a file if one is given.
///
/// A line is written before the call is answered, so whoever has the answer finds the line.
final class CallJournal: Sendable {
    private struct State {
        var records = CircularBuffer<CallRecord>()
        var sequence: UInt64 = 0
        var file: LogFile?
        var failure: (any Error)?
    }

    private let state: Mutex<State>
    private let capacity: Int

    /// `capacity` records are kept in memory; the oldest go first.
    init(file: LogFile?, capacity: Int) {
        state = Mutex(State(file: file))
        self.capacity = capacity
    }

    func append(_ record: CallRecord, at timeMilliseconds: Int64) {
        state.withLock { state in
            state.sequence += 1
            var numbered = record
            numbered.sequence = state.sequence
            numbered.timeMilliseconds = timeMilliseconds
            if state.records.count >= capacity { state.records.removeFirst() }
            state.records.append(numbered)
            do {
                try state.file?.append(numbered)
            } catch {
                // The file ends here, without a hole; the shutdown tells.
                state.failure = error
                state.file = nil
            }
        }
    }

    /// Why the file is not complete; `nil` when it is.
    var failure: (any Error)? { state.withLock { $0.failure } }

    func records(after sequence: UInt64 = 0, limit: Int = .max) -> [CallRecord] {
        state.withLock { state in
            guard let first = state.records.first else { return [] }
            let skipped =
                sequence >= first.sequence ? Int(clamping: sequence - first.sequence + 1) : 0
            return Array(state.records.dropFirst(skipped).prefix(limit))
        }
    }
}

/// A file that gets one JSON line per record, each with one write(2), so that a crash cuts no line.
final class LogFile: Sendable {
    private let descriptor: Int32
    private let path: String

    /// Opens `path` for appending and makes it, readable by its owner alone, when it is missing.
    init(path: String) throws(SandboxError) {
        self.path = path
        descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw SandboxError(.file, cannot: "open log", at: path, cause: "\(ErrorNumber.current)")
        }
    }

    deinit { close(descriptor) }

    func append(_ record: CallRecord) throws {
        let line = try TypedJSON.bytes(record) + [UInt8(ascii: "\n")]
        guard FileBytes.write(line, to: descriptor) else {
            let cause = "\(ErrorNumber.current)"
            throw SandboxError(.file, cannot: "write log", at: path, cause: cause)
        }
    }
}

/// What the sandbox saw and did for one call, without anything secret.
package struct CallRecord: Codable, Equatable, Sendable {
    /// What the call did to the provider's state.
    package enum Outcome: String, Codable, Sendable {
        case exchanged
        /// A refresh token was found live.
        case validated
        case revoked
        /// A revoke answered 200 and changed nothing: garbage, dead token, code, id token.
        case ignored
        case checked
        /// Keys or metadata were handed out.
        case served
        /// The call was refused with ``CallRecord/error``.
        case refused
        /// A fault came first; nothing was done.
        case none
    }

    /// Counts the calls from 1, in the order in which they took effect.
    package var sequence: UInt64 = 0
    /// Wall time by the sandbox's clock (with its offset), in Unix milliseconds.
    package var timeMilliseconds: Int64 = 0
    package var provider: String
    package var endpoint: SandboxEndpoint
    package var grantType: String?
    package var clientID: String?
    /// The provider's subject when the code or token was known.
    package var subject: String?
    /// The first 64 bits of the SHA-256 of the code or token, in hexadecimal.
    package var token: String?
    package var outcome = Outcome.none
    /// The HTTP status of the answer; 0 when none was sent.
    package var status: Int
    package var error: String?
    package var fault: FaultKind?

    init(provider: String, _ call: Call, status: Int) {
        (self.provider, self.status) = (provider, status)
        endpoint = call.endpoint
        fault = call.fault
        // Bounded, since they come from the caller.
        grantType = call.note.grantType.map { String($0.prefix(64)) }
        clientID = call.note.clientID.map { String($0.prefix(255)) }
    }

    private enum CodingKeys: String, CodingKey {
        case sequence, provider, endpoint, subject, outcome, status, error, fault
        case timeMilliseconds = "time_unix_ms"
        case grantType = "grant_type"
        case clientID = "client_id"
        case token = "token_sha256_prefix"
    }
}
