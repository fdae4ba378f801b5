/// The purge and verification of one store within one request.
package struct PurgeWork: Hashable, Sendable, RequestWork {
    /// Where it stands.
    package enum Step: String, Sendable, CaseIterable {
        case waiting, purged, verified
    }

    package let store: StoreName
    package var step = Step.waiting
    package var counts = PurgeCounts()
    package var attempts = 0
    /// `lastFailure` may be `remaining_rows`, too.
    ///
    /// That and `locked_rows` outlast a purge.
    package var retry = Retry()
    package var startedAt: WallTime?
    package var endedAt: WallTime?
    package var obstacle: String?
    /// What is dated up to then goes, too: a backup brought it back, or a wrong clock dated it.
    package var restoredAt: WallTime?
    /// When a verification first found dates in the future.
    ///
    /// Dates later than that by ``Limits/rowSkewMax`` are wrong, also once they have passed, until
    /// an operator retries.
    package var judgedAt: WallTime?
    /// The holds under which the last purge left rows alone; not stored.
    package var heldUnder: Set<String>?
    /// The fewest rows that a verification found since one that found none.
    package var fewestLeft: Int?
    /// Where the last purge erased something; not stored.
    package var workedPlaces: [String] = []
    /// A call is under way in this process; not stored.
    package var isBusy = false

    /// Something of it may be gone: a call was made, and what it did before a failure is not known.
    package var mayHaveBegun: Bool { attempts > 0 }

    /// Whether values in another spelling stop it.
    var isSpelledOtherwise: Bool {
        step != .verified && lastFailure == Obstacle.Kind.spelling.rawValue
    }

    /// Whether a purge has erased or accepted something, or broke off before it said what.
    var mayHaveErased: Bool {
        counts.workedCount > 0 || counts.isAccepted || counts.isPassOpen || counts.isAtLeast
            || !counts.residualCopies.isEmpty
    }

    package init(store: StoreName) { self.store = store }
}

extension PurgeWork {
    mutating func begin(at now: WallTime) {
        isBusy = true
        if step == .waiting { counts.beginPass() }
        attempts += 1
        startedAt = startedAt ?? now
        retryAt = nil
    }

    mutating func record(purge answer: PurgeAnswer, _ context: inout StepContext) -> [RequestEffect]
    {
        isBusy = false
        guard step == .waiting else { return [] }
        switch answer {
        case .done(let done):
            counts.endPass()
            counts.add(done)
            step = .purged
            heldUnder = nil
            workedPlaces = done.workedPlaces
            // Whether that helped is for the verification to say.
            if let lastFailure, Self.verifiedCodes.contains(lastFailure) { return [] }
            failures = 0
            lastFailure = nil
            obstacle = nil
            return []
        case .held(let done, let names):
            counts.endPass()
            counts.add(done)
            failures = 0
            heldUnder = names
            lastFailure = ParkReason.onHold.rawValue
            obstacle = nil
            return []
        case .halted(let done):
            counts.endPass()
            counts.add(done, isWhole: false)
            return []
        case .stopped:
            counts.endPass()
            attempts -= 1
            return []
        case .failure(let failure):
            return record(failure, &context)
        }
    }

    /// Anything left means back to purging.
    mutating func record(
        verify answer: VerifyAnswer,
        _ context: inout StepContext
    ) -> [RequestEffect] {
        isBusy = false
        guard step == .purged else { return [] }
        switch answer {
        case .clean, .notLookedFor:
            if answer == .notLookedFor, !counts.isWithoutAnyKey, !counts.isAccepted {
                counts.entries.append(.init(name: "\(store)", action: .notLookedFor, rowCount: 0))
            }
            end(at: context.now)
            return []
        case .remaining(let count):
            guard counts.isAccepted else { return record(remaining: count, &context) }
            // What was promised for later is there until then; a purge more does not change it.
            end(at: context.now)
            return []
        case .failure(let failure):
            return record(failure, &context)
        }
    }

    /// An operator goes on without what is spelled otherwise.
    mutating func giveUp(at now: WallTime) {
        counts.giveUp(store)
        end(at: now)
    }

    private mutating func end(at now: WallTime) {
        step = .verified
        endedAt = now
        failures = 0
        fewestLeft = nil
        lastFailure = nil
        obstacle = nil
    }

    /// Rows that come back are an obstacle as any other, once a purge of them has not helped.
    private mutating func record(
        remaining count: Int,
        _ context: inout StepContext
    ) -> [RequestEffect] {
        step = .waiting
        let isRepeated = lastFailure == Self.remainingCode && failures > 0
        // Fewer each time ends by itself.
        let isProgress = fewestLeft.map { count < $0 } ?? false
        fewestLeft = min(fewestLeft ?? count, count)
        lastFailure = Self.remainingCode
        if isProgress { failures = 0 }
        guard isRepeated, !isProgress else {
            obstacle = nil
            retry.fail(&context)
            return [.announce(.remainingRows(store))]
        }
        let places = workedPlaces.isEmpty ? nil : workedPlaces.joined(separator: "', '")
        let found = Obstacle(.remaining, at: places)
        // After a restart nothing is known of the places.
        let isNew = obstacle == nil || (places != nil && obstacle != found.text)
        if isNew { obstacle = found.text }
        retry.fail(&context)
        return isNew ? [.announce(.blocked(store, found))] : []
    }

    private static let remainingCode = Obstacle.Kind.remaining.rawValue
    /// What a verification finds of rows that a purge has left.
    private static let verifiedCodes = [remainingCode, Obstacle.Kind.locked.rawValue]

    private mutating func record(
        _ failure: EffectFailure,
        _ context: inout StepContext
    ) -> [RequestEffect] {
        let before = (code: lastFailure, obstacle: obstacle)
        lastFailure = failure.code
        obstacle = failure.obstacle?.text
        guard failure != .misconfigured else {
            attempts -= 1
            return [.pauseStore(store)]
        }
        // Of locked rows only tries that follow one another count.
        if failure.obstacle?.kind == .locked, before.code != failure.code { failures = 0 }
        retry.fail(after: failure, &context)
        guard let found = failure.obstacle else { return [] }
        if found.kind == .future { judgedAt = judgedAt ?? context.now }
        var isTold = found.text == before.obstacle
        if found.kind == .locked {
            // Rows that are free again are for a purge, and mostly they soon are.
            step = .waiting
            // How many there are changes.
            isTold = before.code == failure.code && before.obstacle != nil
            guard isTold || failures >= Limits.lockedTries else {
                obstacle = nil
                return []
            }
        }
        // Each try finds it again: it is announced once.
        return isTold ? [] : [.announce(.blocked(store, found))]
    }

    mutating func takeBackCall() {
        isBusy = false
        counts.endPass()
        attempts -= 1
    }

    mutating func forgetFindings() { heldUnder = nil }

    func waitsForKeys(_ environment: Environment) -> Bool {
        step == .purged && !isBusy && counts.isWithoutAnyKey && !counts.isWithoutKeys
            && environment.keyedStoresToPark.contains(store)
    }

    mutating func lookAgain() {
        step = .waiting
        retryNow()
    }

    /// What was erased may be there again; a verification under way counts for nothing.
    mutating func purgeAgain(upTo time: WallTime?) {
        guard mayHaveBegun else { return }
        if let time { restoredAt = max(restoredAt ?? time, time) }
        guard step != .waiting else { return }
        step = .waiting
        endedAt = nil
        retryNow()
    }

    func isOnHold(_ environment: Environment) -> Bool {
        // With no hold anywhere, which is nearly always, nothing is looked up.
        guard !isBusy, !environment.holds.isEmpty else { return false }
        if environment.isHeld(store) { return true }
        guard let heldUnder else { return false }
        return heldUnder == Set(environment.rowHolds(on: store).map(\.name))
    }

    /// Those of `holds` that keep data of this request.
    ///
    /// Of holds on rows these are the ones on tables in which the last purge left rows. Without
    /// such a table all on the store count: a held row also keeps rows to which it refers.
    package func stops(among holds: [StoreHold]) -> [StoreHold] {
        let own = step == .verified ? [] : holds.filter { $0.store == store }
        guard lastFailure == ParkReason.onHold.rawValue else {
            return own.filter { $0.rows == nil }
        }
        let entries = counts.entries.filter { $0.action == .held }
        let tables = Set(entries.map(\.name))
        let direct = own.filter { $0.rows.map { tables.contains($0.table) } ?? true }
        return direct.isEmpty ? own : direct
    }
}
