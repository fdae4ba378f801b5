import Control
import Engine
import Lifecycle
import Logging
import Storage
import Stores

extension DaemonBackend {
    func holds(caller: Caller) async throws(ControlProblem) -> WireList<WireHold> {
        let (stores, users) = try await attempt("holds") {
            (try await parts.state.pauses().holds, try await parts.state.userHolds())
        }
        let holds = stores.map { WireHold($0) } + users.map(wire)
        return WireList(holds.sorted { $0.since < $1.since })
    }

    private func wire(_ hold: UserHold) -> WireHold {
        WireHold(
            userHash: hold.userHash,
            reason: hold.reason,
            since: hold.since ?? parts.now(),
            uid: hold.uid
        )
    }

    func placeHold(
        _ name: String,
        _ input: HoldInput,
        caller: Caller
    ) async throws(ControlProblem) -> WireHold {
        guard WireHold.userHash(ofHold: name) == nil else {
            throw ControlProblem(
                .malformedField,
                "'\(name)' is how a hold on a user is named; choose another name"
            )
        }
        guard let store = parts.registry.current.stores[input.store] else {
            throw ControlProblem(.unknownStore)
        }
        if let rows = input.rows {
            switch await (store.unwrapped as? any RowHolding)?.check(rows) {
            case .accepted?: break
            case .refused(let why)?: throw ControlProblem(.filterRefused, why)
            case nil:
                throw ControlProblem(
                    .filterRefused,
                    "a store of this kind has no rows to choose from; hold the whole store"
                        + " instead"
                )
            case .failure?: throw ControlProblem(.unavailable, "the store cannot be asked now")
            }
        }
        let hold = StoreHold(
            name: name,
            store: input.store,
            rows: input.rows,
            reason: input.reason,
            since: parts.now(),
            uid: caller.actorUID
        )
        try answer(await parts.engine.place(hold))
        try await attempt("hold_store") { try await parts.engine.settleRules() }
        audit("hold_store", of: hold, caller)
        // Placed again, it is the one that was there before.
        let known = parts.engine.inspect { $0.holds.first { $0.name == name } }
        return WireHold(known ?? hold)
    }

    func liftHold(_ name: String, caller: Caller) async throws(ControlProblem) -> WireHold {
        guard let hold = parts.engine.inspect({ $0.holds.first { $0.name == name } }) else {
            guard let userHash = WireHold.userHash(ofHold: name) else {
                throw ControlProblem(.holdNotFound)
            }
            return wire(try await setHold(false, userHash, reason: nil, caller))
        }
        try answer(await parts.engine.liftHold(name, by: caller.actorUID))
        audit("release_store", of: hold, caller)
        return WireHold(hold)
    }

    /// What stops an open request; `nil` when it is not on hold.
    func heldBy(_ record: RequestRecord) async throws(ControlProblem) -> [WireRequestHold]? {
        let request = record.request
        guard request.isHeld || request.phase.parkReason == .onHold else { return nil }
        let user = try await attempt("show") { try await parts.state.userHold(record.userHash) }
        var found: [WireRequestHold] = []
        if record.hasOwnHold {
            let reason = try await attempt("show") {
                try await parts.state.ownHoldReason(of: request.id)
            }
            found.append(WireRequestHold(reason: reason))
        }
        if user.since != nil {
            let name = WireHold.name(ofUser: user.userHash)
            found.append(WireRequestHold(name: name, reason: user.reason))
        }
        let holds = parts.engine.inspect(\.holds)
        found += request.purges.flatMap { $0.stops(among: holds) }
            .map { WireRequestHold(name: $0.name, store: $0.store.rawValue) }
        return found.isEmpty ? nil : found
    }

    private func answer(_ outcome: OperationOutcome) throws(ControlProblem) {
        switch outcome {
        case .done: break
        case .refused(.notOnHold): throw ControlProblem(.holdNotFound)
        case .refused: throw ControlProblem(.wrongState, "another hold has that name")
        case .notOpen: throw ControlProblem(.unavailable, "the daemon is stopping")
        }
    }

    private func audit(_ verb: String, of hold: StoreHold, _ caller: Caller) {
        audit(verb, caller, ["store": "\(hold.store)", "detail": "\(hold.name)"])
    }
}
