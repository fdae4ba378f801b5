package import Lifecycle

/// How the engine gets on with one provider right now.
package struct LaneHealth: Hashable, Sendable {
    /// What recent calls say about the provider as a whole.
    package enum Breaker: Hashable, Sendable {
        case closed
        case open(until: WallTime, openings: Int)
        case probing(openings: Int)
    }

    package let breaker: Breaker
    package let outage: LaneOutage?
    /// Clients whose users wait because they are not configured.
    package let unconfiguredClients: [String]
    /// ``EffectFailure/reason`` of the last call; `nil` when it was answered as it should be.
    package let lastFailure: String?
    package let isPaused: Bool
    package let inFlightCount: Int
    package let concurrency: Int
    package let waitingCount: Int
}

/// How the engine gets on with one store right now.
package struct StoreHealth: Hashable, Sendable {
    package let isPaused: Bool
    package let isBusy: Bool
    package let waitingCount: Int
    /// Since when a deletion makes no progress; `nil` unless that is reported.
    package let stuckSince: WallTime?
    /// What the store said last about it.
    package let stuckReason: String
}

/// Where the mass-deletion guard stands.
package struct GuardHealth: Hashable, Sendable {
    package let isClosed: Bool
    package let purgesLastHour: Int
    package let purgesPerHourMax: Int
    package let overrideRemaining: Int
    package let overrideUntil: WallTime
}

extension EngineCore {
    /// Every place where work can wait.
    ///
    /// An open breaker and a call under way keep their work without being at fault.
    package func progress(at now: WallTime) -> [QueueProgress] {
        let isStateDue = mayFetch && hasRoom && (fetch.nextDueAt.map { $0 <= now } ?? false)
        var places = [
            QueueProgress(
                place: .state,
                isDue: isStateDue || fetch.isUnderWay,
                begunCount: Int(clamping: lastRead.value)
            )
        ]
        for name in laneOrder {
            guard let lane = lanes[name] else { continue }
            let isKept = environment.pausedProviders.contains(name) || !environment.isVaultOpen
            let isWaiting = !lane.calls.isEmpty || !lane.codes.isEmpty
            places.append(
                QueueProgress(
                    place: .provider(name),
                    isDue: isWaiting && !isKept && lane.isTrusted,
                    begunCount: lane.begunCount
                )
            )
        }
        for name in storeOrder {
            guard let queue = stores[name] else { continue }
            let isKept = environment.pausedStores.contains(name) || queue.isBusy
            places.append(
                QueueProgress(
                    place: .store(name),
                    isDue: queue.waitingCount > 0 && !isKept,
                    begunCount: queue.begunCount
                )
            )
        }
        return places
    }

    package func laneHealth(_ name: ProviderName) -> LaneHealth? {
        guard let lane = lanes[name] else { return nil }
        return LaneHealth(
            breaker: lane.breaker,
            outage: lane.outage,
            unconfiguredClients: lane.unconfiguredClients,
            lastFailure: lane.lastFailure,
            isPaused: environment.pausedProviders.contains(name),
            inFlightCount: lane.callsUnderWay + lane.codesUnderWay,
            concurrency: lane.limits.concurrency,
            waitingCount: lane.calls.count + lane.codes.count
        )
    }

    package func storeHealth(_ name: StoreName) -> StoreHealth? {
        guard let queue = stores[name] else { return nil }
        return StoreHealth(
            isPaused: environment.pausedStores.contains(name),
            isBusy: queue.isBusy,
            waitingCount: queue.waitingCount,
            stuckSince: queue.stuck.isReported ? queue.stuck.since : nil,
            stuckReason: queue.stuck.reason
        )
    }

    package func guardHealth(at now: WallTime) -> GuardHealth {
        var copy = massDeletionGuard
        return GuardHealth(
            isClosed: copy.isClosed(at: now),
            purgesLastHour: copy.begun.count,
            purgesPerHourMax: copy.purgesMax,
            overrideRemaining: now < copy.allowanceUntil ? copy.allowance : 0,
            overrideUntil: copy.allowanceUntil
        )
    }
}
