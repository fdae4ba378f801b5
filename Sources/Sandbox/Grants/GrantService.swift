import Synchronization

/// The state of a family whose grants are in a ``GrantBook``.
protocol GrantState: Sendable {
    var book: GrantBook { get set }

    /// The user authorized again: whatever the family keeps besides the book is renewed.
    mutating func renew(_ key: GrantBook.Key)
}

extension GrantState {
    mutating func renew(_ key: GrantBook.Key) {}
}

struct BookState: GrantState {
    var book: GrantBook
}

/// Where a family's calls are served: one lock, the clients, the keys, the journal, the clock.
final class GrantService<State: GrantState>: Sendable {
    let name: String
    let clients: ClientRegistry
    let signingKeys: SigningKeys
    let clock: SandboxClock
    let address: SandboxAddress
    private let journal: CallJournal
    private let state: Mutex<State>

    init(
        _ provider: SandboxProvider,
        _ tools: FamilyTools,
        _ clients: [ClientRegistration],
        _ state: State
    ) throws(SandboxError) {
        name = provider.rawValue
        self.clients = try ClientRegistry(clients)
        signingKeys = SigningKeys(family: provider.rawValue)
        clock = tools.clock
        address = tools.address
        journal = tools.journal
        self.state = Mutex(state)
    }

    /// Changes the state and records it in one step, so that the journal has the true order.
    ///
    /// A refusal is recorded here too, and leaves as the error.
    func perform<Result: Sendable>(
        _ call: Call,
        status: Int = 200,
        _ body: (inout State, Int64) throws(FamilyRefusal) -> (Result, CallRecord.Outcome)
    ) throws(FamilyRefusal) -> Result {
        let now = clock.nowMilliseconds
        return try state.withLock { state throws(FamilyRefusal) in
            var record = record(of: call, in: state, status: status)
            _ = state.book.takeCutSubject()
            do throws(FamilyRefusal) {
                let (result, outcome) = try body(&state, now / 1000)
                record.outcome = outcome
                // The application's own token tells nothing of the user.
                record.subject = record.subject ?? state.book.takeCutSubject()
                journal.append(record, at: now)
                return result
            } catch {
                var refusal = error
                refusal.isRecorded = true
                record.outcome = .refused
                record.status = refusal.reply.status
                record.error = refusal.code
                journal.append(record, at: now)
                throw refusal
            }
        }
    }

    func record(_ call: Call, _ outcome: CallRecord.Outcome, status: Int, error: String? = nil) {
        state.withLock { state in
            var record = record(of: call, in: state, status: status)
            record.outcome = outcome
            record.error = error
            journal.append(record, at: clock.nowMilliseconds)
        }
    }

    private func record(of call: Call, in state: State, status: Int) -> CallRecord {
        var record = CallRecord(provider: name, call, status: status)
        if let digest = call.note.token.map({ TokenDigest($0) }) {
            record.token = digest.prefix
            record.subject = state.book.subject(of: digest)
        }
        return record
    }

    func change<Result: Sendable, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try state.withLock { state throws(Failure) in try body(&state) }
    }

    /// Answers whose grant it was.
    func cut(_ key: GrantBook.Key) -> String {
        change { state in
            state.book.cut(key)
            return state.book.grants[key]?.subject ?? ""
        }
    }

    func read<Result: Sendable>(_ body: (State) -> Result) -> Result { state.withLock { body($0) } }
}
