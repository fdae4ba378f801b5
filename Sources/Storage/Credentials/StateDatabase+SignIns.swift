package import Engine
import Lifecycle

extension StateDatabase {
    /// Records a sign-in as the user's, once, if its subject is that of the user's first account: a
    /// stranger with the user's session could sign in with an account of their own, or add one.
    package func record(_ signIn: ProvenSignIn) async throws -> SignInOutcome {
        let now = now()
        return try await writer.perform { try Self.record(signIn, at: now, $0) }
    }

    /// Records a sign-in within a commit of something that rests on it.
    static func record(
        _ signIn: ProvenSignIn,
        at now: WallTime,
        _ database: any StateConnection
    ) throws -> SignInOutcome {
        let subjects = try database.all(
            """
            SELECT i.subject_hash FROM users u JOIN identities i ON i.owner = u.id
            WHERE u.user_hash = ? AND i.provider = ? AND i.subject_hash IS NOT NULL
              AND i.is_other_account = 0
            """,
            [.blob(signIn.userHash), .text(signIn.provider.rawValue)]
        ) { $0.blob() }
        guard !subjects.isEmpty else { return .subjectUnknown }
        guard subjects.contains(signIn.subjectHash) else { return .otherSubject }
        guard try use(signIn.fingerprint, until: signIn.expiresAt, at: now, database) else {
            return .usedBefore
        }
        try database.run(
            """
            UPDATE users SET signed_in_at = max(coalesce(signed_in_at, 0), ?) WHERE user_hash = ?
            """,
            [.time(min(signIn.signedInAt, now)), .blob(signIn.userHash)]
        )
        return .recorded
    }

    /// Returns `false` when the id token was used before.
    static func use(
        _ fingerprint: [UInt8],
        until expiresAt: WallTime,
        at now: WallTime,
        _ database: any StateConnection
    ) throws -> Bool {
        let yesterday = now - .seconds(86_400)
        try database.run("DELETE FROM sign_ins WHERE expires_at < ?", [.time(yesterday)])
        return try database.run(
            SignInColumn.insertion + " ON CONFLICT DO NOTHING",
            SignInColumn.row([.fingerprint: .blob(fingerprint), .expiresAt: .time(expiresAt)])
        ) > 0
    }
}

private enum SignInColumn: Int32, Columns {
    case fingerprint, expiresAt

    static let insertion = insertion(of: allCases, into: "sign_ins")
}
