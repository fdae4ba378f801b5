import Engine
import HTTP
import Lifecycle
import Synchronization

/// The clients, or directories, that a provider refuses: their users wait, and nobody else does.
///
/// One call in a while finds out whether one of them is taken again.
final class ClientGate: Sendable {
    /// A code lives for five minutes, so the pause is no longer than one.
    private static let pauses = RetryPolicy(first: .seconds(1), cap: .seconds(60))

    private struct Refused {
        var answer: Refusal
        let since: WallTime
        var failures = 0
        var until = WallTime.distantPast
    }

    /// Calls of one directory in a row that brought no answer.
    private struct Missed {
        /// What one user's own calls meet must not speak for the directory.
        private static let callsMin = 3

        /// Calls about no user, at most as many as speak for it, and users.
        private var count = 0
        private var users: Set<String> = []
        /// Since when they are so many that they speak for it.
        private(set) var since: WallTime?
        /// Another directory was answered meanwhile: that holds until this one is.
        var isAlone = false

        mutating func note(_ user: String?, at now: WallTime) {
            guard since == nil else { return }
            if let user { users.insert(user) } else { count += 1 }
            if max(count, users.count) >= Self.callsMin { since = now }
        }
    }

    private struct DirectoryAnswers {
        var missed: [String: Missed] = [:]
        var last: (directory: String, at: WallTime)?
    }

    private let isAlone: Bool
    private let isOfDirectories: Bool
    private let now: @Sendable () -> WallTime
    private let refused = Mutex<[String: Refused]>([:])
    private let directoryAnswers = Mutex(DirectoryAnswers())

    /// A provider with one client and no directory `isAlone`: it is paused itself.
    ///
    /// Of directories, one may be away alone; no call rotates a token then.
    init(
        isAlone: Bool = false,
        isOfDirectories: Bool = false,
        now: @escaping @Sendable () -> WallTime
    ) {
        (self.isAlone, self.isOfDirectories, self.now) = (isAlone, isOfDirectories, now)
    }

    /// Notes what a client was told.
    func note(_ reading: ReplyReading, of client: String) {
        let isRefused = reading.meaning == .failure(.misconfigured)
        // Otherwise the provider has said nothing about the token.
        let isDocumented = [.honoured, .refused, .unclear].contains(reading.meaning)
        guard isRefused || isDocumented || reading.refusal != nil else { return }
        refused.withLock { refused in
            guard isRefused else {
                refused[client] = nil
                return
            }
            let said = reading.refusal?.refusal
            let answer = Refusal(status: said?.status, error: said?.error, client: client)
            refused[client, default: Refused(answer: answer, since: now())].answer = answer
        }
    }

    var refusedClients: [RefusedClient] {
        guard !isAlone else { return [] }
        return refused.withLock { $0.sorted { $0.key < $1.key } }.map {
            RefusedClient(since: $0.value.since, answer: $0.value.answer)
        }
    }

    /// Makes a call for a client or directory, unless it was refused a moment ago; `user` is who a
    /// directory is asked about, and `nil` for what concerns all of it.
    ///
    /// - Returns: Its answer; `refusesAll` for this client, or for another one that was asked in
    ///   its place, where the provider refused the client.
    func pass<Answer: EffectAnswer>(
        _ client: String,
        of user: String? = nil,
        _ call: () async -> Answer
    ) async -> Answer {
        let start = now()
        // A clock that went back must not make the pause longer.
        if let known = refused.withLock({ $0[client] }), start < known.until,
            known.until.since(start) <= Self.pauses.delay(failures: known.failures)
        {
            return .failure(.refusesAll(known.answer))
        }
        let answer = await call()
        let isAway = noteAnswer(of: client, for: user, answer.failure)
        guard !isAlone, isAway || answer.failure == .misconfigured else { return answer }
        return refused.withLock { refused in
            if isAway, refused[client] == nil {
                let reason = Refusal(status: nil, error: answer.failure?.reason, client: client)
                refused[client] = Refused(answer: reason, since: start)
            }
            let name = refused[client] == nil ? refused.keys.min() : client
            guard let name, var known = refused[name] else { return answer }
            known.failures += 1
            known.until = now() + Self.pauses.delay(failures: known.failures)
            refused[name] = known
            return .failure(.refusesAll(known.answer))
        }
    }

    /// Notes what a directory answered about a user, or with `nil` about all of them.
    ///
    /// - Returns: Whether it brings no answer while another one does.
    @discardableResult
    func noteAnswer(of directory: String, for user: String?, _ failure: EffectFailure?) -> Bool {
        guard isOfDirectories else { return false }
        return directoryAnswers.withLock { answers in
            switch failure {
            case .unreachable?, .lost?, .unusable?:
                let now = now()
                var missed = answers.missed[directory] ?? Missed()
                missed.note(user, at: now)
                if let since = missed.since, let last = answers.last, last.directory != directory,
                    last.at >= since || now.since(last.at) < Limits.outageDoubt
                {
                    missed.isAlone = true
                }
                answers.missed[directory] = missed
                return missed.isAlone
            default:
                answers.missed[directory] = nil
                answers.last = (directory, now())
                return false
            }
        }
    }
}
