import Lifecycle

enum RevocationColumn: Int32, Columns {
    case requestID, position
    case identityID, provider, clientID, isShared, isLinked, isOneOfSeveral, subjectHash
    case credentials, verdict, proof, refusedCredentials, attempts, failures, outages, retryAt
    case waitingSince, startedAt, endedAt, lastFailure, lastAnswer

    static let selection = makeSelection()
    static let insertion = insertion(of: allCases, into: "revocations")
    static let update = update(of: allCases, in: "revocations", keyCount: 2)
}

extension Revocation {
    init(_ row: Row<RevocationColumn>) throws {
        self.init(
            IdentitySnapshot(
                identity: try row.identityID(.identityID),
                provider: row.provider(.provider),
                clientID: row.text(.clientID),
                isShared: row.bool(.isShared),
                credentials: try [CredentialWork](columnText: row.text(.credentials)),
                hadCredentials: VaultIdentity.hadCredentials
            )
        )
        isLinked = row.bool(.isLinked)
        isOneOfSeveral = row.bool(.isOneOfSeveral)
        subjectHash = row.blobOrNil(.subjectHash)
        verdict = try row.choiceOrNil(.verdict, as: Verdict.self)
        proof = try row.choiceOrNil(.proof, as: Proof.self)
        refusedCount = row.int(.refusedCredentials)
        attempts = row.int(.attempts)
        failures = row.int(.failures)
        outages = row.int(.outages)
        retryAt = row.timeOrNil(.retryAt)
        waitingSince = row.timeOrNil(.waitingSince)
        startedAt = row.timeOrNil(.startedAt)
        endedAt = row.timeOrNil(.endedAt)
        lastFailure = row.textOrNil(.lastFailure)
        answer = try row.textOrNil(.lastAnswer).map { try VendorAnswer(columnText: $0) }
    }

    func value(_ column: RevocationColumn, at position: Int, of request: RequestID) -> SQLValue {
        switch column {
        case .requestID: .id(request)
        case .position: .int(position)
        case .identityID: .id(identity)
        case .provider: .text(provider.rawValue)
        case .clientID: .text(clientID)
        case .isShared: .bool(isShared)
        case .isLinked: .bool(isLinked)
        case .isOneOfSeveral: .bool(isOneOfSeveral)
        case .subjectHash: .blob(isLinked ? subjectHash : nil)
        case .credentials: .text(credentials.columnText)
        case .verdict: .text(verdict?.rawValue)
        case .proof: .text(proof?.rawValue)
        case .refusedCredentials: .int(refusedCount)
        case .attempts: .int(attempts)
        case .failures: .int(failures)
        case .outages: .int(outages)
        case .retryAt: .time(retryAt)
        case .waitingSince: .time(waitingSince)
        case .startedAt: .time(startedAt)
        case .endedAt: .time(endedAt)
        case .lastFailure: .text(lastFailure)
        case .lastAnswer: .text(answer?.columnText)
        }
    }

    /// Whether anything differs but what is not stored.
    func differsOnDisk(from other: Revocation) -> Bool {
        var same = other
        same.isBusy = isBusy
        same.isKeyMissing = isKeyMissing
        same.isBehindCode = isBehindCode
        if !isLinked { same.subjectHash = subjectHash }
        same.isOtherAccount = isOtherAccount
        return self != same
    }
}
