import Engine
import Lifecycle

/// The spool, and a machine whose clock is set.
extension Simulator {
    /// A token that an application has committed to the spool and that nobody has read.
    struct Spooled {
        let user: Int
        let provider: ProviderName
        let token: String
        let committedAt: WallTime
        /// Before it, it cannot be sealed.
        let sealableAt: WallTime
    }

    /// What a start does besides.
    mutating func prepareCore() {
        if hasSpool { core.awaitSpool() }
        clockFloor = bug == .lowFloor ? .distantPast : Simulator.start
        if bug != .lowFloor { core.setClockFloor(clockFloor, at: clock) }
    }

    /// An application commits a token.
    mutating func spoolToken(user: Int, provider: ProviderName, unsealedFor: Duration = .zero) {
        guard hasSpool else { return storeToken(user: user, provider: provider) }
        let token = world.issueToken(user: user, provider: provider)
        world.unread.insert(token)
        spool.append(
            Spooled(
                user: user,
                provider: provider,
                token: token,
                committedAt: now,
                sealableAt: now + unsealedFor
            )
        )
        guard unsealedFor > .zero else { return }
        at(unsealedFor) { sim in sim.takeSpooled() }
    }

    mutating func readSpool() {
        if bug != .unreadSpool { takeSpooled() }
        turn([.spoolRead(["spool": .read])])
    }

    /// Seals and stores what can be; a row that comes too late is refused.
    private mutating func takeSpooled() {
        let rows = spool
        spool = rows.filter { $0.sealableAt > now }
        let users = UnsealedUsers(Set(spool.map { [UInt8(truncatingIfNeeded: $0.user)] }))
        var inputs: [EngineInput] = bug == .unheardSeal ? [] : [.unsealed(users)]
        for row in rows where row.sealableAt <= now {
            guard let update = storeSpooled(row) else { continue }
            inputs.append(.update(update))
        }
        turn(inputs)
    }

    private mutating func storeSpooled(_ row: Spooled) -> IdentityUpdate? {
        guard takesCredentials(row.user) else {
            // The application hears that it was refused, and ends it.
            world.tokens[row.token]?.isLive = false
            return nil
        }
        world.unread.remove(row.token)
        let identity = identity(of: row.user, at: row.provider)
        let credential = disk.newCredential(secret: row.token, at: clock)
        disk.identities[identity]?.credentials.append(
            CredentialWork(id: credential, kind: .refreshToken, step: .stored)
        )
        disk.noteUpdate(of: identity, at: clock)
        return disk.update(of: identity)
    }

    /// I-14: nobody is erased while a credential of before the request was never looked at.
    mutating func checkSpool(_ row: SimulatedDisk.Row) {
        guard let acceptedAt = acceptedAt[row.request.id],
            spool.contains(where: { $0.user == row.user && $0.committedAt <= acceptedAt })
        else { return }
        world.violations.append("I-14: completed with a credential unread in the spool")
    }
}

// MARK: - The clock

extension Simulator {
    /// Somebody sets the machine's clock; while the service is down it finds out at its start.
    mutating func setClock(error: Duration) {
        guard error != clockError else { return }
        let step = ClockStep(from: clockEpoch, to: clock, by: error - clockError)
        clockFloor = max(clockFloor, step.waitsUntil ?? clockFloor)
        (clockErrorBefore, clockError) = (clockError, error)
        clockEpoch = step.epochAfter
        clockSetAt = now
        guard bug != .unheardStep else { return }
        turn([.clockStepped(step)])
    }

    /// A start finds a jump that the state has not taken over.
    mutating func takeMissedStep() {
        guard disk.clockError != clockError, bug != .unheardStep else { return }
        let by = clockError - disk.clockError
        disk.reclock(ClockStep(from: disk.clockEpoch, to: clock - by, by: by), at: clock)
    }

    /// The application writes a row with its date, for a user in every store.
    mutating func writeDated(user: Int, before: Duration = .zero) {
        let row = SimulatedWorld.DatedRow(
            writtenAt: now - before,
            date: before > .zero ? now - before - (isShared ? .seconds(60) : .zero) : clock
        )
        for store in configuration.stores {
            world.dated[store, default: [:]][user, default: []].append(row)
        }
    }

    mutating func eraseDated(_ store: StoreName, of user: Int, _ cutoff: WallTime) {
        world.dated[store]?[user]?.removeAll { $0.date <= cutoff }
    }

    func datedCount(_ store: StoreName, of user: Int, _ cutoff: WallTime) -> Int {
        world.dated[store]?[user]?.count { $0.date <= cutoff } ?? 0
    }

    /// I-15: nothing older than the true time of the request is left.
    mutating func checkDates(_ row: SimulatedDisk.Row) {
        guard let acceptedAt = acceptedAt[row.request.id] else { return }
        for (store, rows) in world.dated
        where rows[row.user]?.contains(where: { $0.writtenAt < acceptedAt }) ?? false {
            world.violations.append("I-15: completed with an older row in \(store)")
        }
    }
}
