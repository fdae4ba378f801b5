import Encoding
package import Engine
import HTTP
package import Lifecycle
import Settings

/// A store that only a program or a service of the operator's own can reach.
///
/// When it says that it is overloaded, gone or set up wrongly, the rest of a call is not asked.
package struct DelegatedStore: UserListing {
    package let name: StoreName
    let delegate: any PurgeDelegate
    let clock: StoreClock
    let drill: DelegatedQuestion.Drill?

    /// `copy` is what the operator calls the copy to work in; `nil` for the store itself.
    package init(
        name: StoreName,
        delegate: any PurgeDelegate,
        clock: StoreClock,
        copy: String? = nil
    ) {
        self.name = name
        self.delegate = delegate
        self.clock = clock
        drill = copy.map { copy in
            DelegatedQuestion.Drill(copy: copy, key: String(clock.entropy(), radix: 16))
        }
    }

    package func purge(_ orders: [PurgeOrder]) async -> [PurgeAnswer] {
        await ask(.purge, orders).map { user, reply in
            switch reply {
            case .answer(let json): DelegatedAnswers(user: user).purge(json)
            case .failure(let failure): .failure(failure)
            case nil: .stopped
            }
        }
    }

    package func verify(_ orders: [PurgeOrder]) async -> [VerifyAnswer] {
        await ask(.verify, orders).map { user, reply in
            switch reply {
            case .answer(let json): DelegatedAnswers(user: user).verify(json)
            case .failure(let failure): .failure(failure)
            case nil: .failure(.lost)
            }
        }
    }

    package func plan(_ order: PurgeOrder) async -> PlanAnswer {
        switch await delegate.ask(question(.plan, order)) {
        case .answer(let json): DelegatedAnswers(user: order.user).plan(json)
        case .failure(let failure): .failure(failure)
        }
    }

    /// What the program or service says about itself, or why it says nothing.
    package func inspect(withOutages: Bool) async -> StoreFindings {
        let (problems, failure) = await diagnosis()
        guard let failure, withOutages || failure == .misconfigured else {
            return StoreFindings(problems: problems)
        }
        if drill != nil, failure == .unusable {
            return StoreFindings(
                problems: ["it does not answer 'drill' (docs/stores/command.md)"]
            )
        }
        return StoreFindings(problems: problems + [delegate.advice(failure)])
    }

    package func shutdown() async { await delegate.shutdown() }

    private func diagnosis() async -> (problems: [String], failure: EffectFailure?) {
        switch await delegate.ask(question(.diagnose, nil)) {
        case .answer(let json): DelegatedAnswers(user: nil).diagnose(json)
        case .failure(let failure): ([], failure)
        }
    }

    private func question(
        _ operation: DelegatedQuestion.Operation,
        _ order: PurgeOrder?
    ) -> DelegatedQuestion {
        DelegatedQuestion(
            operation,
            of: name.rawValue,
            order,
            in: drill,
            look: operation == .purge ? nil : String(clock.entropy(), radix: 16)
        )
    }

    /// Asks for every order, a few at a time; `nil` for one that was stopped before.
    private func ask(
        _ operation: DelegatedQuestion.Operation,
        _ orders: [PurgeOrder]
    ) async -> [(UserID, ObjectReply?)] {
        let halt = Halt()
        let replies = await OrderPool.map(orders, width: max(1, delegate.concurrency)) {
            order -> ObjectReply? in
            guard !order.isStopped else { return nil }
            if let failure = halt.failure { return .failure(failure) }
            let reply = await delegate.ask(question(operation, order))
            if let failure = reply.failure { halt.note(failure) }
            return reply
        }
        return zip(orders, replies).map { ($0.user, $1) }
    }
}

extension ObjectReply {
    /// "Working" is no failure of the store: the purge of one user goes on.
    fileprivate var failure: EffectFailure? {
        switch self {
        case .answer(let json):
            json["outcome"]?.string == "working" ? nil : EffectFailure(ofObject: json)
        case .failure(let failure): failure
        }
    }
}

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

/// A store that only the operator's own program or service knows, and its copies by their names.
protocol DelegatedKind: DrillCopying {
    /// What the operator calls a copy of the store; only of a copy.
    var copy: String? { get set }
}

extension DelegatedKind {
    /// The program or service gets the cutoff and leaves newer data alone.
    package var cutoff: StoreCutoff { .everything }

    package func copy(at place: String) throws(NoStoreCopy) -> Self {
        var copy = self
        copy.copy = try TextRule.sentence.check(place)
        return copy
    }

    package func overlaps(_ other: any StoreKind, _ environment: StoreEnvironment) -> Bool {
        false
    }
}
