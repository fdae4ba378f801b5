import Engine
import GRDB
import Lifecycle

/// Turns unchecked rows into typed ones; checks again what the schema's CHECKs say.
struct SpoolChecks {
    enum RequestOutcome {
        case submission(Submission)
        case refused(RefusedRow)
    }

    enum CredentialOutcome {
        case credential(SpoolCredential)
        case refused(SpoolRow, CredentialRejectReason)
    }

    let database: Database
    let spoolID: String
    let hasher: any KeyedHasher

    func request(_ raw: SpoolRawRow) throws -> RequestOutcome {
        let row = self.row(raw)
        func refuse(_ reason: RejectReason) -> RequestOutcome {
            .refused(RefusedRow(row: row, reason: reason))
        }
        guard let kindText = raw.cell("kind").text else { return refuse(.malformedRow) }
        guard let kind = RequestKind(rawValue: kindText) else { return refuse(.unknownKind) }
        guard let userText = raw.cell("user_id").text, let user = UserID(userText) else {
            return refuse(.malformedUserID)
        }
        guard let createdAt = time(raw),
            let optionsText = raw.cell("options").text, let key = key(raw)
        else { return refuse(.malformedRow) }
        switch try SpoolOptions.read(optionsText, of: kind, database) {
        case .refused(let reason):
            return refuse(reason)
        case .options(let options):
            var submission = Submission(
                kind: kind,
                user: user,
                userHash: hasher.hash(userText, domain: .user),
                createdAt: createdAt,
                origin: .spool(row)
            )
            submission.options = options
            submission.idempotency = key.text.map { idempotency($0, submission) }
            return .submission(submission)
        }
    }

    /// The key's cell when it may be one; `nil` when it breaks the schema.
    private func key(_ raw: SpoolRawRow) -> SpoolCell? {
        switch raw.cell("idempotency_key") {
        case .null: .null
        case .text(let text) where isKey(text): .text(text)
        case .text, .other: nil
        }
    }

    private func isKey(_ text: String) -> Bool {
        text.unicodeScalars.count <= SpoolLimits.keyLengthMax && !text.unicodeScalars.contains("\0")
    }

    private func idempotency(_ key: String, _ submission: Submission) -> IdempotencyKey {
        let body = [
            submission.kind.rawValue, submission.user.exposeText(),
            SpoolOptions.canonicalText(submission.options),
        ].joined(separator: "\n")
        return IdempotencyKey(
            scope: "spool:" + spoolID,
            keyHash: hasher.hash("key\n" + key, domain: .idempotencyKey),
            bodyFingerprint: hasher.hash("body\n" + body, domain: .idempotencyKey)
        )
    }

    func credential(_ raw: SpoolRawRow) -> CredentialOutcome {
        let row = self.row(raw)
        guard let createdAt = time(raw) else { return .refused(row, .malformedRow) }
        guard let userText = raw.cell("user_id").text, let user = UserID(userText) else {
            return .refused(row, .malformedUserID)
        }
        guard let provider = raw.cell("provider").text, SpoolOptions.isName(provider) else {
            return .refused(row, .unknownProvider)
        }
        guard let kind = raw.cell("kind").text.flatMap({ CredentialKind(rawValue: $0) }) else {
            return .refused(row, .unknownCredentialKind)
        }
        if raw.cell("secret") == .null || raw.cell("secret") == .text("") {
            return .refused(row, .missingSecret)
        }
        guard let secret = raw.cell("secret").text,
            secret.unicodeScalars.count <= SpoolLimits.secretLengthMax,
            raw.cells.allSatisfy({ $0 == .null || $0.text != nil }), areShort(raw)
        else { return .refused(row, .malformedRow) }
        var credential = SpoolCredential(
            row: row,
            user: user,
            userHash: hasher.hash(userText, domain: .user),
            provider: ProviderName(provider),
            kind: kind,
            secret: Secret(secret),
            createdAt: createdAt
        )
        credential.clientID = raw.cell("client_id").text
        credential.subject = raw.cell("subject").text.map { Secret($0) }
        credential.redirectURI = raw.cell("redirect_uri").text
        credential.codeVerifier = raw.cell("code_verifier").text.map { Secret($0) }
        credential.rawNonce = raw.cell("raw_nonce").text.map { Secret($0) }
        return .credential(credential)
    }

    private func areShort(_ raw: SpoolRawRow) -> Bool {
        ["client_id", "subject", "redirect_uri", "code_verifier", "raw_nonce"].allSatisfy { name in
            // A code that was issued to no redirect URI has an empty one (Google's mobile SDKs).
            let least = name == "redirect_uri" ? 0 : 1
            let count = raw.cell(name).byteCount
            return raw.cell(name) == .null || (least...SpoolLimits.textByteCountMax).contains(count)
        }
    }

    private func time(_ raw: SpoolRawRow) -> WallTime? {
        raw.cell("created_at").text.flatMap { WallTime(rfc3339: $0) }
    }

    private func row(_ raw: SpoolRawRow) -> SpoolRow {
        SpoolRow(spoolID: spoolID, rowID: raw.id, fingerprint: raw.fingerprint(hasher))
    }
}
