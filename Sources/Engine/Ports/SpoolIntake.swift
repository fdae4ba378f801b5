package import Lifecycle

/// A credential that an application submitted, checked by its form and not yet sealed.
package struct CredentialOffer: Sendable {
    package let user: UserID
    package let userHash: [UInt8]
    package let provider: ProviderName
    package var credential: SubmittedCredential
    package var createdAt: WallTime
    /// `nil` over HTTP.
    package var spoolRow: SpoolRow?
    /// The sign-in that it came with.
    package var signIn: ProvenSignIn?
    /// The user is asked for it, and brings no account that is not known yet.
    package var isReauthorization = false

    package init(
        user: UserID,
        userHash: [UInt8],
        provider: ProviderName,
        credential: SubmittedCredential,
        createdAt: WallTime,
        spoolRow: SpoolRow? = nil
    ) {
        (self.user, self.userHash, self.provider) = (user, userHash, provider)
        (self.credential, self.createdAt, self.spoolRow) = (credential, createdAt, spoolRow)
    }
}

/// What became of a credential of the spool; durable when the spool sees it.
package enum SpoolCredentialReceipt: Hashable, Sendable {
    /// In the vault, now or before: its row is scrubbed at once.
    case sealed
    /// Not taken, for good: its row is scrubbed at once.
    case rejected(CredentialRejectReason)
    /// Not taken yet (the vault is sealed, intake is paused): the row stays and is offered again.
    case postponed
}

/// What became of a submission of the spool; durable when the spool sees it.
package enum SpoolRequestReceipt: Hashable, Sendable {
    case accepted(RequestID)
    case same(RequestID)
    case rejected(RejectReason)
    case postponed
}

/// One receipt per row, in the order in which the rows were offered.
package struct SpoolReceipts: Hashable, Sendable {
    package let credentials: [SpoolCredentialReceipt]
    package let requests: [SpoolRequestReceipt]

    package init(credentials: [SpoolCredentialReceipt], requests: [SpoolRequestReceipt]) {
        (self.credentials, self.requests) = (credentials, requests)
    }
}

/// Rows of one read transaction of the spool.
package struct SpoolBatch: Sendable {
    /// To be sealed and stored first: codes among them live five minutes.
    package let credentials: [CredentialOffer]
    /// To be accepted after the credentials are durable; the origin of each is its row.
    package let requests: [Submission]
    package let refused: [RefusedRow]

    package init(credentials: [CredentialOffer], requests: [Submission], refused: [RefusedRow]) {
        (self.credentials, self.requests, self.refused) = (credentials, requests, refused)
    }
}

/// Where rows of the spool become credentials and requests.
package protocol SpoolIntake: Sendable {
    /// Seals and stores the credentials, accepts the requests, remembers the refused rows.
    ///
    /// One receipt each, in order, all durable. A row may be offered again, and comes out the same.
    /// - Throws: When nothing may be acknowledged; the rows are offered again.
    func take(_ batch: SpoolBatch) async throws -> SpoolReceipts

    /// All rows are offered again from here on, with new ones between them.
    func rescanBegan()

    /// Every row that still waits was offered again since ``rescanBegan()``.
    func rescanEnded()
}

extension SpoolIntake {
    package func rescanBegan() {}

    package func rescanEnded() {}
}

/// How a read of the spool or a queue ended that a request waits for.
package enum SpoolReadOutcome: Hashable, Sendable {
    /// Every credential that was committed before the read began is in the vault, or its user is
    /// among the ``UnsealedUsers``.
    case read
    /// It cannot be read, for longer than requests wait.
    case unreadable
    case stopped
}

/// Reads all sources to their end, for requests that must not miss a credential there.
package protocol SpoolReader: Sendable {
    /// Begins a read after the call and waits until it has ended; what it found is durable and was
    /// told to the engine by then.
    ///
    /// By source, such as `spool` or `queue app`; empty before any can be read.
    func readToEnd() async -> [String: SpoolReadOutcome]
}

/// Users of whom a credential waits in the spool that could not be sealed.
package struct UnsealedUsers: Hashable, Sendable {
    private let hashes: Set<[UInt8]>
    private let isEverybody: Bool

    package init(_ hashes: Set<[UInt8]> = [], isEverybody: Bool = false) {
        (self.hashes, self.isEverybody) = (hashes, isEverybody)
    }

    package func contains(_ userHash: [UInt8]) -> Bool { isEverybody || hashes.contains(userHash) }

    package var isEmpty: Bool { hashes.isEmpty && !isEverybody }

    func hasOthers(than users: UnsealedUsers) -> Bool {
        guard !users.isEverybody else { return false }
        return isEverybody || !hashes.isSubset(of: users.hashes)
    }
}
