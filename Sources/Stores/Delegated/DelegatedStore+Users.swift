package import Engine
import HTTP
package import Lifecycle

extension DelegatedStore {
    /// Pages of one listing: a hundred million ids.
    static let pagesMax = 100_000
    /// How long one listing may take: a replay, and the applications behind it, wait for it.
    static let listingMax = Duration.seconds(3_600)

    /// Asks for the ids of all users, a page at a time; not every program can answer.
    package func users(
        where isWanted: @escaping @Sendable (UserID) -> Bool
    ) async -> UsersAnswer {
        var found: Set<UserID> = []
        var cursor: String?
        let answers = DelegatedAnswers(user: nil)
        // A listing is told from all others: an answer that was kept for a key would be old.
        let key = String(clock.entropy(), radix: 16)
        let deadline = clock.uptime() + Self.listingMax
        for number in 0..<Self.pagesMax {
            let start = clock.uptime()
            guard start < deadline else { break }
            let page = DelegatedQuestion.Page(key: "\(key).\(number)", after: cursor)
            let question = DelegatedQuestion(usersOf: name.rawValue, page, in: drill)
            switch answers.users(await delegate.ask(question)) {
            case .page(let users, let next):
                found.formUnion(users.filter(isWanted))
                guard let next else { return .found(Array(found)) }
                // A listing that does not move on never ends.
                guard next != cursor else { return .failure(.unusable) }
                cursor = next
            // It knows the question, or it would not have answered it before.
            case .unsupported: return number == 0 ? .unknown(Self.silence) : .failure(.unusable)
            case .failure(let failure): return .failure(failure)
            }
            do {
                try await clock.rest(min(clock.uptime() - start, PageWalk.restMax))
            } catch {
                return .failure(.lost)
            }
        }
        return .unknown("there are more users than it lists in an hour")
    }

    private static let silence =
        "the program or service does not answer 'users' (docs/stores/command.md)"
}
