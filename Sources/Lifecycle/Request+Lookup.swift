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
            // An identity is one account, and covers no link with a second subject.
            var covered: [IdentityID: LinkedIdentity] = [:]
            for link in links {
                let own = revocations.first {
                    $0.provider == link.provider && !link.strangers.contains($0.identity)
                        && covered[$0.identity, default: link].subjectHash == link.subjectHash
                }
                covered[own?.identity ?? link.identity] = link
                guard own == nil else { continue }
                for index in revocations.indices
                where revocations[index].provider == link.provider {
                    revocations[index].standBesideOther()
                }
                var revocation = Revocation(link)
                if link.isLocal {
                    revocation.verdict = .nothingToRevoke
                    revocation.endedAt = context.now
                    effects.append(revocation.announcement(of: .nothingToRevoke))
                }
                revocations.append(revocation)
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
            return $0 != index && other.provider == own.provider
                && (other.clientID == own.clientID || other.isLinked && !isLink($0, of: index))
        }.map { revocations[$0] }
        if !others.isEmpty { revocations[index].isOneOfSeveral = true }
        return others
    }

    /// Whether a link is the account of an identity that came later, and ends with it.
    ///
    /// Of several accounts that a directory names, only the directory knows which one that is.
    func isLink(_ link: Int, of index: Int) -> Bool {
        let (known, own) = (revocations[link], revocations[index])
        return known.isLinked && known.provider == own.provider
            && link < index && !own.isLinked && !own.isOtherAccount
            && revocations.count { $0.isLinked && $0.provider == own.provider } == 1
            && !revocations[..<link].contains { $0.provider == own.provider }
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
        if work.isBusy {
            outlook.isBusy = true
        } else if environment.directory != work.directory {
            outlook.notePark(.unknownProvider)
        } else if environment.pausedProviders.contains(work.directory) {
            outlook.notePark(.providerPaused)
        } else if let retryAt = work.retry.wait(at: now) {
            outlook.noteWait(until: retryAt)
        } else {
            lookup?.begin()
            outlook.isBusy = true
            decision.effects.append(.lookUp(work.directory))
        }
        adopt(outlook, stage: .revoking, now: now)
    }

    /// A link of which the vault has nothing ends with the later credentials of its provider.
    mutating func advanceLink(
        at index: Int,
        now: WallTime,
        in environment: Environment
    ) -> RevocationStep {
        let joined = revocations.indices.filter { isLink(index, of: $0) }.map { revocations[$0] }
        guard let last = joined.last else {
            return revocations[index].advanceWithoutVault(kind: kind, now: now, in: environment)
        }
        guard joined.allSatisfy({ $0.verdict != nil }), let verdict = last.verdict else {
            return .behind
        }
        revocations[index].proof = last.proof
        return revocations[index].finish(verdict, at: now)
    }
}
