extension Revocation {
    /// Whether there is something new to revoke.
    mutating func learn(_ snapshot: IdentitySnapshot) -> Bool {
        isShared = snapshot.isShared
        isCut = snapshot.isCut
        isOtherAccount = snapshot.isOtherAccount
        isOneOfSeveral = isOneOfSeveral || snapshot.hadOthers
        subjectHash = snapshot.subjectHash ?? subjectHash
        hadCredentials = hadCredentials || snapshot.hadCredentials
        var isNew = false
        beginGrant(snapshot)
        if snapshot.refusedCount > refusedCount {
            refusedCount = snapshot.refusedCount
            isNew = verdict?.isRevoked ?? false
        }
        for credential in snapshot.credentials {
            guard let index = credentials.firstIndex(where: { $0.id == credential.id }) else {
                let isLostLater = credential.step == .lost && isRevocationBegun
                credentials.append(credential)
                if isLostLater { credentials[credentials.count - 1].rotation = .inDoubt }
                isNew = isNew || !credential.step.isFinal || isLostLater && verdict != nil
                continue
            }
            credentials[index].learn(credential)
            guard credentials[index].step == .codePending else { continue }
            credentials[index].step = credential.step
            // What it may have brought is younger than what was revoked.
            guard credential.step == .lost else { continue }
            let isYounger = isRevocationBegun || credential.rotation.isInDoubt
            credentials[index].rotation = isYounger ? .inDoubt : .settled
        }
        if isNew { reopen() }
        return isNew
    }

    /// Hands over a token of another account; `true` if that opens a verdict again.
    ///
    /// It starts afresh there, also after a revocation: that was in the name of this account.
    /// Beside an account that `isNew` a token without a subject proves nothing any more.
    mutating func giveUp(to other: inout IdentitySnapshot, isNew: Bool) -> Bool {
        guard identity != other.identity, provider == other.provider, clientID == other.clientID
        else { return false }
        let before = verdict
        isOneOfSeveral = true
        var isDoubtful = isNew && restsOnUnnamed
        // A token moves to where its subject is named; a snapshot without the name is older.
        other.credentials.removeAll { stored in
            stored.isUnnamed && credentials.contains { $0.id == stored.id }
        }
        for index in other.credentials.indices {
            let stored = other.credentials[index]
            guard let own = credentials.firstIndex(where: { $0.id == stored.id }) else { continue }
            var moved = credentials.remove(at: own)
            isDoubtful = isDoubtful || moved.isEvidence
            let isAlone = !other.credentials.contains { $0.id != moved.id && $0.step == .stored }
            moved.isOfEarlierGrant = moved.isBegun && !isAlone
            moved.step = moved.hasRevokeIntent ? .revoking : stored.step
            moved.refusals = nil
            moved.learn(stored)
            other.credentials[index] = moved
        }
        if isDoubtful { doubt() }
        return verdict != before
    }

    /// Notes that the user has another account at the provider.
    mutating func standBesideOther() {
        isOneOfSeveral = true
        if restsOnUnnamed { doubt() }
    }

    private var restsOnUnnamed: Bool {
        credentials.contains {
            isAmbiguous($0) && ($0.isEvidence || proof == .notification && $0.isOpen)
        }
    }

    /// Takes back what may rest on a token of another account.
    private mutating func doubt() {
        for index in credentials.indices where credentials[index].step == .lost {
            credentials[index].rotation = .inDoubt
        }
        guard
            proof != .notification || credentials.contains(where: { isAmbiguous($0) && $0.isOpen })
        else { return }
        let isProven = credentials.contains { $0.step == .proven && !$0.isUnnamed }
        if !isProven || proof == .grantGone { proof = nil }
        if verdict?.isRevoked ?? false { reopen() }
    }

    /// Ends a call in another account's name: it says of a token only whether it was rotated.
    mutating func endRotation(of id: CredentialID, _ failure: EffectFailure?) {
        for index in credentials.indices
        where credentials[index].id == id && credentials[index].rotation.isUnderWay {
            guard let failure else { return credentials[index].rotation.end() }
            credentials[index].endRefresh(failure)
        }
    }

    mutating func reopen() {
        verdict = nil
        if proof == .notification { proof = nil }
        endedAt = nil
        waitingSince = nil
    }

    private var isRevocationBegun: Bool { credentials.contains(where: \.hasRevokeIntent) }

    /// Separates what was revoked or has ended from a token that comes after it.
    private mutating func beginGrant(_ snapshot: IdentitySnapshot) {
        let hasNewToken = snapshot.credentials.contains { credential in
            credential.step == .stored && !credential.isOfEarlierGrant
                && !credentials.contains { $0.id == credential.id }
        }
        guard hasNewToken else { return }
        proof = nil
        for index in credentials.indices
        where credentials[index].isBegun { credentials[index].isOfEarlierGrant = true }
    }

    /// Whether the provider's report of a cut link raised the verdict; no verdict ever falls.
    mutating func raise() -> Bool {
        guard isCut, isRaisedByCut else { return false }
        verdict = .proven
        proof = .notification
        return true
    }

    mutating func takeBackCall() {
        isBusy = false
        attempts -= 1
        for index in credentials.indices {
            credentials[index].rotation.end()
            credentials[index].lastCheck = nil
        }
    }

    mutating func forgetFindings() {
        isKeyMissing = false
        forgetRefusals()
    }

    mutating func abandon(at now: WallTime) {
        guard verdict == nil else { return }
        verdict = .abandoned
        endedAt = now
        retryAt = nil
    }
}

extension Revocation {
    /// Whether a report of the provider that the link was cut at `time` proves the final verdict.
    package func wouldRise(cutAt time: WallTime) -> Bool {
        startedAt.map { $0 <= time } ?? false && isRaisedByCut
    }

    /// The cut of one account's link says nothing of a token that may be another's.
    private var isRaisedByCut: Bool {
        verdict?.mayRise ?? false
            && !credentials.contains {
                isAmbiguous($0) && ($0.isOpen || $0.step == .unconfirmed || $0.step == .lost)
            }
    }
}
