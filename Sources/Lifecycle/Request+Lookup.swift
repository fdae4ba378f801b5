extension Request {
    var isLookupOpen: Bool { lookup.map { !$0.isDone } ?? false }

    /// A second answer changes nothing.
    mutating func record(
        lookup answer: LookupAnswer,
        _ context: inout StepContext
    ) -> [RequestEffect] {
        guard isLookupOpen else { return [] }
        switch answer {
        case .failure(let failure):
            return lookup?.record(failure, &context) ?? []
        case .found(let links):
            lookup?.end()
            var effects: [RequestEffect] = []
            // An account without a name may be the link's, and may be named as another one later.
            for link in links where !revocations.contains(where: { $0.has(link) }) {
                var revocation = Revocation(link)
                if link.isLocal {
                    revocation.verdict = .nothingToRevoke
                    revocation.endedAt = context.now
                    effects.append(revocation.announcement(of: .nothingToRevoke))
                }
                revocations.append(revocation)
                for index in revocations.indices.dropLast()
                where revocations[index].provider == link.provider
                    && isLink(revocations.count - 1, of: index) == false
                {
                    revocations[index].standBesideOther()
                }
            }
            return effects
        }
    }

    /// A row in the directory's name stays: the receipt says that links may be unknown.
    mutating func abandonLookup(at now: WallTime) {
        guard isLookupOpen, let directory = lookup?.directory else { return }
        lookup?.end()
        var revocation = Revocation(
            LinkedIdentity(
                identity: IdentityID(id.value),
                provider: directory,
                isLocal: false,
                subjectHash: nil
            )
        )
        revocation.abandon(at: now)
        revocations.append(revocation)
    }

    /// Notes whether the user has further accounts at an identity's client, and returns them.
    @discardableResult
    mutating func noteOthers(than index: Int) -> [Revocation] {
        let own = revocations[index]
        let others = revocations.indices.filter {
            let other = revocations[$0]
            guard $0 != index, other.provider == own.provider else { return false }
            return other.clientID == own.clientID
                || other.isLinked && isLink($0, of: index) == false
        }.map { revocations[$0] }
        if !others.isEmpty { revocations[index].isOneOfSeveral = true }
        return others
    }

    /// Whether a link is the account of an identity, and ends with it; `nil` if it may be.
    ///
    /// Without both names it may be, unless the user has other accounts there.
    func isLink(_ link: Int, of index: Int) -> Bool? {
        let (known, own) = (revocations[link], revocations[index])
        guard known.isLinked, !own.isLinked, known.provider == own.provider else { return false }
        if let subject = own.subjectHash, let linked = known.subjectHash {
            return subject == linked
        }
        let isAlone =
            !own.isOtherAccount
            && revocations.indices.allSatisfy {
                $0 == link || revocations[$0].provider != own.provider
                    || !revocations[$0].isLinked && !revocations[$0].isStranger(to: known)
            }
        return isAlone ? nil : false
    }

    /// A deletion that is older than the directory asks it, too, before its purge at the latest.
    mutating func adoptDirectory(_ environment: Environment) {
        guard kind == .deleteAccount, lookup == nil, !isBusy else { return }
        lookup = environment.directory.map(LookupWork.init)
    }

    mutating func settleLookup(_ decision: inout Decision) {
        guard let work = lookup else { return }
        let (now, environment) = (decision.now, decision.environment)
        var outlook = Outlook()
        lookup?.isProviderUnknown = environment.directory != work.directory
        if work.isBusy {
            outlook.isBusy = true
        } else if environment.directory != work.directory {
            outlook.notePark(.unknownProvider)
        } else if environment.pausedProviders.contains(work.directory) {
            outlook.notePark(.providerPaused)
        } else if revocations.contains(where: { $0.isNamedSoon(environment) }) {
            outlook.isAwaitingLane = true
        } else if let retryAt = work.retry.wait(at: now) {
            outlook.noteWait(until: retryAt)
        } else {
            lookup?.begin()
            outlook.isBusy = true
            decision.effects.append(.lookUp(work.directory))
        }
        adopt(outlook, stage: .revoking, now: now)
    }

    /// A link ends with the sign-ins of the same account, and with the verdict that says least.
    ///
    /// An identity without a name may be of that account, and claims `unconfirmed` at best.
    mutating func advanceLink(
        at index: Int,
        now: WallTime,
        in environment: Environment
    ) -> RevocationStep {
        let known = revocations.indices.filter { isLink(index, of: $0) == true }
        let possible = revocations.indices.filter { isLink(index, of: $0) == nil }
        let joined = known.isEmpty ? possible : known
        let order: [Verdict?] = [
            nil, .abandoned, .unrevoked, .manual, .tokenDead, .unconfirmed, .nothingToRevoke,
            .accepted, .alreadyGone, .proven,
        ]
        let weakest = order.compactMap { verdict in
            joined.first { revocations[$0].verdict == verdict }
        }.first
        let claim = weakest.flatMap { revocations[$0].verdict }.map {
            known.isEmpty && $0.isRevoked ? Verdict.unconfirmed : $0
        }
        guard let weakest else {
            return revocations[index].advanceWithoutVault(kind: kind, now: now, in: environment)
        }
        guard let claim else { return .behind }
        revocations[index].proof = known.isEmpty ? nil : revocations[weakest].proof
        return revocations[index].finish(claim, at: now)
    }

    /// Opens links again that ended with what turned out to be another account.
    mutating func reopenUnbackedLinks() {
        let ends: [Verdict?] = [.unconfirmed, .tokenDead]
        for link in revocations.indices
        where revocations[link].isLinked && ends.contains(revocations[link].verdict)
            && revocations.indices.allSatisfy({ isLink(link, of: $0) == false })
        {
            revocations[link].reopen()
        }
    }
}

extension Revocation {
    /// Whether the exchange of a code is about to name the account, which links are compared with.
    fileprivate func isNamedSoon(_ environment: Environment) -> Bool {
        hasPendingCode && subjectHash == nil && environment.providers[provider] != nil
            && !environment.pausedProviders.contains(provider)
    }

    /// Whether it is the link: by the name, or as a link without one that is listed twice.
    fileprivate func has(_ link: LinkedIdentity) -> Bool {
        provider == link.provider && subjectHash == link.subjectHash
            && (isLinked || subjectHash != nil)
    }

    fileprivate func isStranger(to link: Revocation) -> Bool {
        guard let subjectHash, let linked = link.subjectHash else { return isOtherAccount }
        return subjectHash != linked
    }
}

/// Rows that name a key are the user's data: whenever keys are read after the source was purged,
/// the source is purged and verified again, and after it what it keys.
extension Request {
    func storesWaitingForKeys(_ environment: Environment) -> [StoreName] {
        purges.filter { $0.waitsForKeys(environment) }.map(\.store)
    }

    /// Rows that name these keys may name others: all of the same source is purged again.
    mutating func lookForKeys(of stores: [StoreName], _ environment: Environment) {
        guard !stores.isEmpty else { return }
        let roots = Set(stores.map { environment.keyChain(of: $0).last ?? $0 })
        for index in purges.indices {
            let store = purges[index].store
            if stores.contains(store) { purges[index].lookAgain() }
            guard roots.contains(environment.keyChain(of: store).last ?? store) else { continue }
            purges[index].purgeAgain(upTo: nil)
        }
    }

    /// The source is purged again; a store that has keys finds new ones when it is verified.
    mutating func lookForKeys(in source: StoreName, _ environment: Environment) {
        guard !environment.keySources.isEmpty else { return }
        for index in purges.indices where purges[index].counts.isWithoutAnyKey {
            guard environment.keyChain(of: purges[index].store).contains(source) else { continue }
            purges[index].purgeAgain(upTo: nil)
        }
    }
}

extension Environment {
    /// The stores through whose rows a key leads into a store, next one first.
    fileprivate func keyChain(of store: StoreName) -> [StoreName] {
        var chain: [StoreName] = []
        var next = keySources[store]
        while let source = next {
            chain.append(source)
            next = keySources[source]
        }
        return chain
    }
}
