package import Lifecycle

/// Makes a repeated submission find the first one; kept for at least 400 days.
package struct IdempotencyKey: Hashable, Sendable {
    /// How long a key finds its request: longer than a year, so that a yearly job's retry does.
    package static let lifetime = Duration.seconds(400 * 86_400)

    /// Who the key belongs to: a socket and uid, or a spool.
    package let scope: String
    package let keyHash: [UInt8]
    /// Keyed hash of kind, user and options: the same key with another body is a conflict.
    package let bodyFingerprint: [UInt8]

    package init(scope: String, keyHash: [UInt8], bodyFingerprint: [UInt8]) {
        (self.scope, self.keyHash, self.bodyFingerprint) = (scope, keyHash, bodyFingerprint)
    }
}

/// Names one row of one spool file, for good.
package struct SpoolRow: Hashable, Sendable {
    package let spoolID: String
    package let rowID: Int64
    /// Keyed hash of the row's input columns; tells a recreated file.
    package let fingerprint: [UInt8]

    package init(spoolID: String, rowID: Int64, fingerprint: [UInt8]) {
        (self.spoolID, self.rowID, self.fingerprint) = (spoolID, rowID, fingerprint)
    }
}

/// Where a submission came from.
package enum SubmissionOrigin: Hashable, Sendable {
    case control(uid: UInt32, role: String)
    case spool(SpoolRow)

    package var isSpool: Bool { if case .spool = self { true } else { false } }
}

/// One ask, checked by its form and not yet accepted.
package struct Submission: Sendable {
    package let kind: RequestKind
    package let user: UserID
    package let userHash: [UInt8]
    /// When the application noted it; `nil` where it asks at this moment.
    package var createdAt: WallTime?
    /// What is dated up to then goes, too: the application noted the submission by a clock that was
    /// ahead, and its rows as well.
    package var datedUpTo: WallTime?
    package var options = SubmissionOptions()
    package var idempotency: IdempotencyKey?
    package let origin: SubmissionOrigin
    /// Whether a deletion needs no fresh sign-in: an operator asks, or the provider itself.
    package var isSignInWaived = false
    /// A sign-in that came with it, recorded in the same commit.
    package var signIn: ProvenSignIn?
    package var operatorUID: UInt32?
    /// Where the user gets the confirmation; `delete_account` only.
    package var address: SealedAddress?
    /// ``Lifecycle/Request/isAnonymous``; a row of the spool always is.
    package var isAnonymous: Bool

    package init(
        kind: RequestKind,
        user: UserID,
        userHash: [UInt8],
        createdAt: WallTime?,
        origin: SubmissionOrigin
    ) {
        (self.kind, self.user, self.userHash) = (kind, user, userHash)
        (self.createdAt, self.origin) = (createdAt, origin)
        isAnonymous = if case .spool = origin { true } else { false }
    }

    /// Sets ``idempotency``; a repeated submission has the same kind, user, options and `details`.
    package mutating func identify(
        by key: String,
        of scope: String,
        with details: [String] = [],
        _ hasher: any KeyedHasher
    ) {
        // No part can hold a line feed.
        let body = ["body", kind.rawValue, user.exposeText(), options.canonicalText] + details
        idempotency = IdempotencyKey(
            scope: scope,
            keyHash: hasher.hash("key\n" + key, domain: .idempotencyKey),
            bodyFingerprint: hasher.hash(body.joined(separator: "\n"), domain: .idempotencyKey)
        )
    }
}

/// What intake reads besides the submission.
package struct IntakePolicy: Hashable, Sendable {
    package let gracePeriod: Duration
    /// The statutory clock, counted from `createdAt`.
    package let deadline: Duration
    package let stores: [StoreName]
    package let directory: ProviderName?
    /// How old the last proven sign-in may be for a new `delete_account`; `nil`: none is needed.
    package let signInAgeMax: Duration?

    package init(
        gracePeriod: Duration,
        deadline: Duration,
        stores: [StoreName],
        directory: ProviderName? = nil,
        signInAgeMax: Duration? = nil
    ) {
        (self.signInAgeMax, self.gracePeriod, self.deadline) = (signInAgeMax, gracePeriod, deadline)
        (self.stores, self.directory) = (stores, directory)
    }
}

/// What became of a submission; durable when the caller sees it.
package enum SubmissionOutcome: Hashable, Sendable {
    /// A new request. The requests in `absorbing` ended with the same commit: forget them.
    case accepted(LoadedRequest, absorbing: [RequestID])
    case same(RequestID)
    case rejected(RejectReason)
    case unproven(SignInOutcome)
}

/// A row of a spool that was refused before it could become a submission.
package struct RefusedRow: Hashable, Sendable {
    package let row: SpoolRow
    package let reason: RejectReason

    package init(row: SpoolRow, reason: RejectReason) { (self.row, self.reason) = (row, reason) }
}

/// A sign-in that a provider's signature proves.
package struct ProvenSignIn: Hashable, Sendable {
    package let userHash: [UInt8]
    package let provider: ProviderName
    /// Keyed hash of the subject that the id token names.
    package let subjectHash: [UInt8]
    package let signedInAt: WallTime
    package let fingerprint: [UInt8]
    /// Until when the token would be accepted; it is forgotten a day later.
    package let expiresAt: WallTime

    package init(
        userHash: [UInt8],
        provider: ProviderName,
        subjectHash: [UInt8],
        signedInAt: WallTime,
        fingerprint: [UInt8],
        expiresAt: WallTime
    ) {
        (self.userHash, self.provider, self.subjectHash) = (userHash, provider, subjectHash)
        (self.signedInAt, self.fingerprint, self.expiresAt) = (signedInAt, fingerprint, expiresAt)
    }
}

/// What a proven sign-in is worth.
package enum SignInOutcome: Hashable, Sendable {
    case recorded
    case usedBefore
    /// No identity of the user at the provider has a subject to compare with.
    case subjectUnknown
    case otherSubject
}
