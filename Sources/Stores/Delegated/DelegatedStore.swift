import Encoding
package import Engine
import HTTP
package import Lifecycle

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
