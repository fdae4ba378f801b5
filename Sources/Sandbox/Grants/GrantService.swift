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

/// The counter where a family's calls are served: one lock, the journal, the clock.
final class GrantService<State: GrantState>: Sendable {
    let clock: SandboxClock
    let address: SandboxAddress
    private let journal: CallJournal
    private let state: Mutex<State>

    init(_ tools: FamilyTools, state: State) {
        clock = tools.clock
        address = tools.address
        journal = tools.journal
        self.state = Mutex(state)
    }

    /// Changes the state and records it in one step, so that the journal has the true order.
    ///
    /// A refusal is recorded here too, and leaves as the error.
    func perform<Result: Sendable>(
        _ note: CallNote,
        _ body: (inout State, Int64) throws(FamilyRefusal) -> (Result, CallRecord.Outcome)
    ) throws(FamilyRefusal) -> Result {
        let now = clock.nowMilliseconds
        let result: Swift.Result<Result, FamilyRefusal> = state.withLock { state in
            var record = note.record
            record.token = note.token?.prefix
            record.subject = note.token.flatMap { state.book.subject(of: $0) }
            _ = state.book.takeCutSubject()
            do throws(FamilyRefusal) {
                let (result, outcome) = try body(&state, now / 1000)
                record.outcome = outcome
                // The application's own token tells nothing of the user.
                record.subject = record.subject ?? state.book.takeCutSubject()
                journal.append(record, at: now)
                return .success(result)
            } catch {
                var refusal = error
                refusal.isRecorded = true
                record.outcome = .refused
                record.status = refusal.reply.status
                record.error = refusal.code
                journal.append(record, at: now)
                return .failure(refusal)
            }
        }
        return try result.get()
    }

    /// Records a call that changed nothing.
    func record(_ note: CallNote, _ outcome: CallRecord.Outcome, status: Int, error: String? = nil)
    {
        state.withLock { state in
            var record = note.record
            record.token = note.token?.prefix
            record.subject = note.token.flatMap { state.book.subject(of: $0) }
            record.outcome = outcome
            record.status = status
            record.error = error
            journal.append(record, at: clock.nowMilliseconds)
        }
    }

    /// Changes the state for a command.
    func change<Result: Sendable>(
        _ body: (inout State) throws(SandboxError) -> Result
    ) throws(SandboxError) -> Result {
        let result: Swift.Result<Result, SandboxError> = state.withLock { state in
            do throws(SandboxError) {
                return .success(try body(&state))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// Changes the state where nothing can go wrong.
    func changed<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        state.withLock { body(&$0) }
    }

    func read<Result: Sendable>(_ body: (State) -> Result) -> Result {
        state.withLock { body($0) }
    }
}
