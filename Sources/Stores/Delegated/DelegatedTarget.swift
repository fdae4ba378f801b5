import Encoding
package import Engine
import HTTP
package import Lifecycle
import Synchronization

/// A store that only a program or a service of the operator's own can reach.
///
/// It is asked once per user and operation, with the same idempotency key at every try. When it
/// says that it is overloaded, gone or set up wrongly, the rest of the call is not asked at all.
package struct DelegatedTarget: PurgeTarget {
    package let name: TargetName
    let delegate: any PurgeDelegate
    let clock: TargetClock
    let drill: DelegatedQuestion.Drill?

    /// Has a delegate carry the questions.
    ///
    /// - Parameters:
    ///   - name: The configured name.
    ///   - delegate: Carries them.
    ///   - clock: Bounds and paces a listing.
    ///   - copy: What the operator calls the copy to work in; `nil` for the store itself.
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

    /// Has each user's data removed.
    package func purge(_ orders: [PurgeOrder]) async -> [PurgeAnswer] {
        await ask(.purge, orders).map { user, reply in
            switch reply {
            case .answer(let json): DelegatedAnswers(user: user).purge(json)
            case .failure(let failure): .failure(failure)
            case nil: .stopped
            }
        }
    }

    /// Asks anew what is left; how, is the operator's to choose.
    package func verify(_ orders: [PurgeOrder]) async -> [VerifyAnswer] {
        await ask(.verify, orders).map { user, reply in
            switch reply {
            case .answer(let json): DelegatedAnswers(user: user).verify(json)
            case .failure(let failure): .failure(failure)
            case nil: .failure(.lost)
            }
        }
    }

    /// Asks what a purge would do; not every program can tell.
    package func plan(_ order: PurgeOrder) async -> PlanAnswer {
        switch await delegate.ask(question(.plan, order)) {
        case .answer(let json): DelegatedAnswers(user: order.user).plan(json)
        case .failure(let failure): .failure(failure)
        }
    }

    /// What the program or service says about itself, or why it says nothing.
    package func diagnose() async -> [String] {
        let (problems, failure) = await diagnosis()
        if drill != nil, failure == .unusable {
            return ["it does not answer 'drill' (docs/guides/command-target.md)"]
        }
        return problems + (failure.map { [delegate.advice($0)] } ?? [])
    }

    /// Without what an outage explains.
    package func startupProblems() async -> [String] {
        let (problems, failure) = await diagnosis()
        return problems + (failure == .misconfigured ? [delegate.advice(.misconfigured)] : [])
    }

    /// Closes the connections of a service.
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

    /// Asks for every order, a few at a time.
    ///
    /// - Returns: `nil` for an order that was stopped before it was asked for.
    private func ask(
        _ operation: DelegatedQuestion.Operation,
        _ orders: [PurgeOrder]
    ) async -> [(UserID, ObjectReply?)] {
        let halt = Halt()
        return await withTaskGroup(of: (Int, ObjectReply?).self) { group in
            var replies: [ObjectReply?] = orders.map { _ in .failure(.lost) }
            var next = 0
            func start() {
                guard next < orders.count else { return }
                let (index, order) = (next, orders[next])
                let question = question(operation, order)
                next += 1
                group.addTask { [delegate] in
                    guard !order.isStopped else { return (index, nil) }
                    if let failure = halt.failure { return (index, .failure(failure)) }
                    let reply = await delegate.ask(question)
                    halt.note(reply)
                    return (index, reply)
                }
            }
            for _ in 0..<max(1, delegate.concurrency) { start() }
            while let (index, reply) = await group.next() {
                replies[index] = reply
                start()
            }
            return zip(orders, replies).map { ($0.user, $1) }
        }
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
            guard json["outcome"]?.string != "working" else { return nil }
            return Self.halt(EffectFailure(ofObject: json))
        case .failure(let failure): return Self.halt(failure)
        }
    }

    private static func halt(_ failure: EffectFailure) -> EffectFailure? {
        switch failure {
        case .unreachable, .throttled, .misconfigured: failure
        case .lost, .unusable, .rejected, .refused, .wrongEndpoint, .sealBroken, .vaultSealed,
            .keys, .blocked:
            nil
        }
    }
}
