import Lifecycle

extension EngineCore {
    /// Durable, so that a restart does not hammer a provider that refuses us.
    mutating func pause(
        _ name: ProviderName,
        reason: String,
        by uid: UInt32? = nil,
        at now: WallTime
    ) {
        if let before = providerPauses[name] {
            // Whoever replaces a reason has recorded it.
            guard uid != nil, reason != before else { return }
            providerPauses[name] = reason
            return actions.append(.report(.providerPaused(name, reason: reason)))
        }
        providerPauses[name] = reason
        record(.pauseProvider(name, reason: reason, by: uid, at: now))
        nextBatch.reports.append(.providerPaused(name, reason: reason))
        sendHome(name, at: now)
        touchWindow(at: now)
        tellOfPause(name, at: now)
    }

    /// Requests that wait for a code alone are not in the window; they are parked like the others.
    mutating func tellOfPause(_ name: ProviderName, at now: WallTime) {
        let waiting = exchanges.values.filter { $0.exchange.provider == name }
        let owners = Dictionary(
            waiting.map { ($0.exchange.identity, $0.credential.userHash) },
            uniquingKeysWith: { first, _ in first }
        )
        for (identity, userHash) in owners.sorted(by: { $0.key.value < $1.key.value }) {
            record(.tell(identity, of: userHash, at: now), of: Partition(userHash: userHash))
        }
    }

    mutating func resume(_ name: ProviderName, isOwn: Bool, at now: WallTime) {
        guard !isOwn || providerPauses[name] != PauseReason.byOperator,
            providerPauses.removeValue(forKey: name) != nil
        else { return }
        record(.resumeProvider(name, isOwn: isOwn, at: now))
        nextBatch.reports.append(.providerResumed(name))
        renewals.searchAt = now
        for reason in ParkReason.ofRevocations { wake(reason, at: now) }
    }

    mutating func trust(_ name: ProviderName, at now: WallTime) {
        let wasOpen = endingOutage(of: name) { $0.trust() } ?? false
        if wasOpen { touchWindow(at: now) }
    }

    mutating func pauseStore(
        _ name: StoreName,
        reason: String,
        by uid: UInt32? = nil,
        at now: WallTime
    ) {
        if let before = storePauses[name] {
            guard uid != nil, reason != before else { return }
            storePauses[name] = reason
            return actions.append(.report(.storePaused(name, reason: reason)))
        }
        storePauses[name] = reason
        record(.pauseStore(name, reason: reason, by: uid, at: now))
        nextBatch.reports.append(.storePaused(name, reason: reason))
        stores[name]?.stuck.forgetAll()
        touchWindow(at: now)
    }

    mutating func resumeStore(_ name: StoreName, isOwn: Bool, at now: WallTime) {
        guard !isOwn || storePauses[name] != PauseReason.byOperator,
            storePauses.removeValue(forKey: name) != nil
        else { return }
        record(.resumeStore(name, isOwn: isOwn, at: now))
        nextBatch.reports.append(.storeResumed(name))
        wake(.storePaused, at: now)
    }

    mutating func reconfigure(_ configuration: EngineConfiguration, at now: WallTime) {
        retirePurges()
        self.configuration = configuration
        environment.adopt(configuration)
        massDeletionGuard.purgesMax = configuration.purgesPerHourMax
        adoptLanes()
        adoptRenewals()
        for id in window.keys { withRun(id) { $0.loaded.request.approval?.expire() } }
        adoptApproval(configuration.approval, at: now)
        for reason in ParkReason.ofRevocations + [.withoutKeys] { wake(reason, at: now) }
    }

    /// The state finds parked requests; a wake under way for the same reason begins anew.
    mutating func wake(_ reason: ParkReason, at now: WallTime) {
        looseChanges.removeAll { $0.change.wakes(reason) }
        record(.wake(parkedFor: reason, at: now))
        nextBatch.hasWake = true
        touchWindow(at: now)
    }

    mutating func continueWake(_ reason: ParkReason, after id: RequestID, at now: WallTime) {
        if let index = looseChanges.firstIndex(where: { $0.change.wakes(reason) }) {
            // Partitions that came from other hosts may have been left at other places.
            guard case .wake(_, let last?, _) = looseChanges[index].change, last > id else {
                return
            }
            looseChanges.remove(at: index)
        }
        record(.wake(parkedFor: reason, after: id, at: now))
        nextBatch.hasWake = true
    }

    mutating func touchWindow(at now: WallTime) {
        for id in window.keys.sorted() { apply(.due, to: id, at: now) }
    }
}

extension StateChange {
    fileprivate func wakes(_ reason: ParkReason) -> Bool {
        if case .wake(reason, _, _) = self { true } else { false }
    }
}
