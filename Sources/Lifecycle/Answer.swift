/// Why an effect brought no answer: never a verdict, never a completed step.
package enum EffectFailure: Error, Hashable, Sendable {
    /// Nothing was sent: name resolution, connect or TLS failed.
    case unreachable
    /// The other side said that it did not act and when to come back (429, 503).
    case throttled(retryAfter: Duration?)
    /// Sent, but no usable answer came back, so the effect may have happened.
    case lost
    /// An answer that means nothing here: other 5xx, HTML, wrong content type, cut-off body.
    case unusable
    /// The provider's own 4xx to this one call; it does not say where the token stands.
    case rejected
    /// The provider refused this one token, and answered properly about another one.
    case refused(Refusal)
    /// A token that cannot exist is answered in the same way: nothing is known of any token of the
    /// provider, or of the client or directory that the refusal names.
    case refusesAll(Refusal)
    /// No section of the provider lists the credential's client id; nothing was sent.
    case notConfigured(client: String)
    /// Our own set-up is refused (`invalid_client`, a missing table): pauses provider or store.
    case misconfigured
    /// The sealed credential does not open or is not the one that was stored.
    case sealBroken
    /// The vault lacks the key that the credential was sealed under.
    case vaultSealed
    /// Rows of a store name keys of other stores that cannot be used.
    case keys(KeyFailure)
    /// The store refuses this one user, and names what stands in the way.
    case blocked(Obstacle)

    /// A stable name for the journal, the API and metrics.
    package var code: String {
        switch self {
        case .unreachable: "unreachable"
        case .throttled: "throttled"
        case .lost: "lost"
        case .unusable: "unusable_answer"
        case .rejected: "rejected"
        case .refused: "refused"
        case .refusesAll(let answer): answer.client == nil ? "refuses_all" : "client_refused"
        case .notConfigured: "client_not_configured"
        case .misconfigured: "misconfigured"
        case .sealBroken: "seal_broken"
        case .vaultSealed: "vault_sealed"
        case .keys(let failure): failure.rawValue
        case .blocked(let obstacle): obstacle.kind.rawValue
        }
    }
}

extension EffectFailure {
    package var reason: String {
        if case .notConfigured(let client) = self { return "\(code): '\(client)'" }
        return refusal.map { "\(code): \($0.text)" } ?? code
    }

    package var refusal: Refusal? {
        switch self {
        case .refused(let refusal), .refusesAll(let refusal): refusal
        case .unreachable, .throttled, .lost, .unusable, .rejected, .notConfigured, .misconfigured,
            .sealBroken, .vaultSealed, .keys, .blocked:
            nil
        }
    }

    package var obstacle: Obstacle? {
        if case .blocked(let obstacle) = self { obstacle } else { nil }
    }
}

/// Why keys that were found for other stores cannot be used; nothing is purged then.
package enum KeyFailure: String, Hashable, Sendable, CaseIterable {
    /// A value that is no id: empty, too long, with control characters, or of another type.
    case unfit = "unfit_key"
    /// One user's rows name more than ``Limits/keysMax``.
    case tooMany = "too_many_keys"
}

/// What an effect brought: something, or a failure.
package protocol EffectAnswer: Sendable {
    static func failure(_ failure: EffectFailure) -> Self

    var failure: EffectFailure? { get }
}

/// What asking a provider about a token brought.
package enum CheckAnswer: Hashable, EffectAnswer {
    case live
    case dead
    /// Fits a dead token and one that we may not ask about (RFC 7662 §2.2).
    case unknown
    case failure(EffectFailure)

    package var failure: EffectFailure? {
        if case .failure(let known) = self { known } else { nil }
    }
}

/// What asking a provider to revoke a token brought.
package enum RevokeAnswer: Hashable, EffectAnswer {
    /// The provider's documented success. For RFC 7009 it also covers tokens it never knew (§2.2).
    case success
    /// The provider's own error for a token that it no longer knows (Google's `invalid_token`).
    case alreadyInvalid
    /// This user has no grant for this client any more; says more than ``alreadyInvalid``.
    case grantGone
    /// Of no use for a revocation: expired by its own clock, without what the provider needs to
    /// know, or of a kind that it does not revoke (RFC 7009 §2.2.1, `unsupported_token_type`).
    case unfit
    /// No service can revoke for this account; only the user can (a personal Microsoft account).
    case userOnly
    case failure(EffectFailure)

    package var failure: EffectFailure? {
        if case .failure(let known) = self { known } else { nil }
    }
}

/// What purging one user from one store brought.
package enum PurgeAnswer: Hashable, Sendable {
    /// Every configured row of the user is dealt with, as far as the purge itself can tell.
    case done(PurgeCounts)
    /// As `done`, but for rows under these holds (``PurgeCounts/Action/held``).
    case held(PurgeCounts, under: Set<String>)
    /// Nothing was done: a hold came before the order had begun.
    case stopped
    /// A reload came in the middle of the order: what is counted was committed, the rest was not.
    case halted(PurgeCounts)
    case failure(EffectFailure)

    /// The same answer, and what it deleted stays in these copies for a while.
    package func noting(_ copies: [PurgeCounts.ResidualCopies]) -> PurgeAnswer {
        func noted(_ counts: PurgeCounts) -> PurgeCounts {
            copies.reduce(into: counts) { $0.note($1) }
        }
        return switch self {
        case .done(let counts): .done(noted(counts))
        case .held(let counts, let names): .held(noted(counts), under: names)
        case .halted(let counts): .halted(noted(counts))
        case .stopped, .failure: self
        }
    }
}

/// What counting again, with other queries than the purge used, brought.
package enum VerifyAnswer: Hashable, Sendable {
    case clean
    case remaining(Int)
    /// No key led into the store, so it was not searched.
    case notLookedFor
    case failure(EffectFailure)
}

/// What one purge did, table by table.
package struct PurgeCounts: Hashable, Sendable {
    /// One row of the receipt: a table (or folder, prefix) and what was done there.
    package struct Entry: Hashable, Sendable {
        package let name: String
        package let action: Action
        package var rowCount: Int
        package var newerCount: Int

        package init(name: String, action: Action, rowCount: Int, newerCount: Int = 0) {
            (self.name, self.action) = (name, action)
            (self.rowCount, self.newerCount) = (rowCount, newerCount)
        }
    }

    /// Copies that the store keeps for a while although it has deleted them.
    package struct ResidualCopies: Hashable, Sendable {
        /// What they are; printed, so no personal data.
        package enum Content: Hashable, Sendable {
            /// Of the operator's own program or configuration; it stays in its language.
            case text(String)
            /// The id of a ``ResidualPhrase``, and what fills it, such as a bucket.
            case phrase(String, name: String?)
        }

        package let content: Content
        /// When the store has destroyed the last of them; `nil` when it does not say.
        package var until: WallTime?

        package init(_ content: Content, until: WallTime?) {
            (self.content, self.until) = (content, until)
        }

        package init(text: String, until: WallTime?) {
            self.init(.text(text), until: until)
        }

        package init(_ phrase: ResidualPhrase, _ name: String? = nil, until: WallTime?) {
            self.init(.phrase(phrase.id, name: name), until: until)
        }
    }

    package var entries: [Entry]
    package var residualCopies: [ResidualCopies]
    /// A pass has begun and has not reported what it did.
    package private(set) var isPassOpen = false
    /// A pass broke off: there were at least as many rows.
    package private(set) var isAtLeast = false

    package init(entries: [Entry] = [], residualCopies: [ResidualCopies] = []) {
        (self.entries, self.residualCopies) = (entries, residualCopies)
    }

    /// Adds the counts of a later pass over the same tables, which happens after a crash.
    ///
    /// A pass that did not come to its end is not whole.
    package mutating func add(_ other: PurgeCounts, isWhole: Bool = true) {
        // Keys were found later: what an operator decided for want of them counts no more.
        let isLookedFor = !other.entries.isEmpty && !other.isWithoutAnyKey
        entries.removeAll {
            $0.action == .notLookedFor || $0.action == .passedOver(.spelledOtherwise)
                || (isLookedFor && $0.action == .withoutKeys)
                // What was left for another reason may be gone now; a whole pass counts all of it.
                || (isWhole && ($0.action == .shared || $0.passedOver != nil))
        }
        for entry in noteReached(by: other, isWhole: isWhole) {
            if let index = entries.firstIndex(where: { $0.isSame(as: entry) }) {
                // What was left alone is still there: seen again, it is the same.
                let before = entry.action.code.isLeft ? 0 : entries[index].rowCount
                entries[index].rowCount = before + entry.rowCount
                entries[index].newerCount = entry.newerCount
            } else {
                entries.append(entry)
            }
        }
        for copy in other.residualCopies { note(copy) }
    }

    /// Before the store is asked: a crash leaves no other trace of what it had done by then.
    package mutating func beginPass() {
        if isPassOpen { isAtLeast = true }
        isPassOpen = true
    }

    package mutating func endPass() { isPassOpen = false }

    package mutating func restore(isPassOpen: Bool, isAtLeast: Bool) {
        (self.isPassOpen, self.isAtLeast) = (isPassOpen, isAtLeast)
    }

    /// The store, or a part of it, was not searched.
    package var isNotLookedFor: Bool { isWithoutAnyKey || isGivenUp || !unreached.isEmpty }

    /// The store has taken the order and does some of it later: nothing of it is verified.
    package var isAccepted: Bool { entries.contains { $0.action == .accepted } }

    /// Until when the store has promised to have erased it all.
    package var acceptedUntil: WallTime? {
        let promised = ResidualCopies(.promised, until: nil).content
        return residualCopies.first { $0.content == promised }?.until
    }

    package var isWithoutKeys: Bool { entries.contains { $0.action == .withoutKeys } }

    /// A pass that broke off may have erased something all the same.
    mutating func giveUp(_ store: StoreName) {
        beginPass()
        endPass()
        let action = Action.passedOver(.spelledOtherwise)
        entries.append(Entry(name: "\(store)", action: action, rowCount: 0))
    }

    mutating func goWithoutKeys() {
        entries = entries.map { entry in
            guard entry.action == .notLookedFor else { return entry }
            return Entry(name: entry.name, action: .withoutKeys, rowCount: 0)
        }
    }

    var workedPlaces: [String] {
        entries.filter { !$0.action.code.isLeft && $0.rowCount > 0 }
            .reduce(into: []) { if !$0.contains($1.name) { $0.append($1.name) } }
    }

    package var workedCount: Int {
        entries.reduce(0) { $1.action.code.isLeft ? $0 : $0 + $1.rowCount }
    }

    /// Without what a rule keeps anyway.
    package var newerCount: Int {
        entries.reduce(0) { $1.action.code.isLeft ? $0 : $0 + $1.newerCount }
    }

    package var heldCount: Int {
        entries.reduce(0) { $0 + ($1.action == .held ? $1.rowCount : 0) }
    }

    /// Copies of the same content are one, until the later time.
    package mutating func note(_ copy: ResidualCopies) {
        guard let index = residualCopies.firstIndex(where: { $0.content == copy.content }) else {
            return residualCopies.append(copy)
        }
        guard let known = residualCopies[index].until, let later = copy.until else {
            residualCopies[index].until = nil
            return
        }
        residualCopies[index].until = max(known, later)
    }
}
