import Encoding
package import Engine
import HTTP
package import Lifecycle
import Synchronization

/// A store that only a program or a service of the operator's own can reach.
///
/// When it says that it is overloaded, gone or set up wrongly, the rest of a call is not asked.
package struct DelegatedTarget: UserListing {
    package let name: TargetName
    let delegate: any PurgeDelegate
    let clock: TargetClock
    let drill: DelegatedQuestion.Drill?

    /// `copy` is what the operator calls the copy to work in; `nil` for the store itself.
    package init(
        name: TargetName,
        delegate: any PurgeDelegate,
        clock: TargetClock,
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
    package func inspect(withOutages: Bool) async -> TargetFindings {
        let (problems, failure) = await diagnosis()
        guard let failure, withOutages || failure == .misconfigured else {
            return TargetFindings(problems: problems)
        }
        if drill != nil, failure == .unusable {
            return TargetFindings(
                problems: ["it does not answer 'drill' (docs/stores/command.md)"]
            )
        }
        return TargetFindings(problems: problems + [delegate.advice(failure)])
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
            halt.note(reply)
            return reply
        }
        return zip(orders, replies).map { ($0.user, $1) }
    }

    /// What keeps the rest of a call from being asked.
    private final class Halt: Sendable {
        private let state = Mutex<EffectFailure?>(nil)

        var failure: EffectFailure? { state.withLock { $0 } }

        func note(_ reply: ObjectReply) {
            guard let failure = reply.halt else { return }
            state.withLock { $0 = $0 ?? failure }
        }
    }
}

extension ObjectReply {
    /// The failure that every further question would meet; one user's own failures are none.
    ///
    /// "Working" is one user's: its purge goes on.
    fileprivate var halt: EffectFailure? {
        switch self {
        case .answer(let json):
            let failure = EffectFailure(ofObject: json)
            return json["outcome"]?.string != "working" && failure.isOfAll ? failure : nil
        case .failure(let failure): return failure.isOfAll ? failure : nil
        }
    }
}
