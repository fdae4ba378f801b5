import Encoding
import Engine
import Lifecycle

/// What the row of a credential is to show, and that its secrets go.
struct CredentialSettlement: Hashable, Sendable {
    let row: SpoolRow
    /// `nil` when it was sealed.
    let rejection: CredentialRejectReason?
}

/// Turns unchecked rows into typed ones; checks again what the schema's CHECKs say.
struct SpoolChecks {
    let spoolID: String
    let hasher: any KeyedHasher

    /// Parts rows into what can be taken and what cannot.
    func sort(
        _ rows: [SpoolRawRow]
    ) -> (batch: SpoolBatch, refusedCredentials: [CredentialSettlement]) {
        var credentials: [CredentialOffer] = []
        var requests: [Submission] = []
        var refused: [RefusedRow] = []
        var settlements: [CredentialSettlement] = []
        for raw in rows {
            switch raw.table {
            case .credentials:
                do throws(CredentialRejectReason) {
                    credentials.append(try credential(raw))
                } catch {
                    settlements.append(CredentialSettlement(row: row(raw), rejection: error))
                }
            case .requests:
                do throws(RejectReason) {
                    requests.append(try request(raw))
                } catch {
                    refused.append(RefusedRow(row: row(raw), reason: error))
                }
            }
        }
        let batch = SpoolBatch(credentials: credentials, requests: requests, refused: refused)
        return (batch, settlements)
    }

    func request(_ raw: SpoolRawRow) throws(RejectReason) -> Submission {
        guard let kindText = raw.cell("kind").text else { throw .malformedRow }
        guard let kind = RequestKind(rawValue: kindText) else { throw .unknownKind }
        guard let userText = raw.cell("user_id").text, let user = UserID(userText) else {
            throw .malformedUserID
        }
        guard let createdAt = time(raw),
            let optionsText = raw.cell("options").text, let key = key(raw)
        else { throw .malformedRow }
        var submission = Submission(
            kind: kind,
            user: user,
            userHash: hasher.hash(userText, domain: .user),
            createdAt: createdAt,
            origin: .spool(row(raw))
        )
        submission.options = try options(optionsText, of: kind)
        if let key = key.text { submission.identify(by: key, of: "spool:" + spoolID, hasher) }
        return submission
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

    private func options(
        _ text: String,
        of kind: RequestKind
    ) throws(RejectReason) -> SubmissionOptions {
        var options = SubmissionOptions()
        if text == "{}" { return options }
        guard text.unicodeScalars.count <= SpoolLimits.optionsLengthMax,
            case .object(let members)? = JSONValue(Array(text.utf8))
        else { throw .malformedOption }
        for member in members {
            var number: Int64?
            if case .integer(let whole) = member.value { number = whole }
            do throws(OptionProblem) {
                try options.read(
                    member.name,
                    of: kind,
                    number: number,
                    text: member.value.string,
                    list: member.value.array?.map(\.string)
                )
            } catch {
                throw error == .unknown ? RejectReason.unknownOption : .malformedOption
            }
        }
        return options
    }

    func credential(_ raw: SpoolRawRow) throws(CredentialRejectReason) -> CredentialOffer {
        guard let createdAt = time(raw) else { throw .malformedRow }
        guard let userText = raw.cell("user_id").text, let user = UserID(userText) else {
            throw .malformedUserID
        }
        guard let provider = raw.cell("provider").text, ComponentName.isValid(provider) else {
            throw .unknownProvider
        }
        guard let kind = raw.cell("kind").text.flatMap({ CredentialKind(rawValue: $0) }) else {
            throw .unknownCredentialKind
        }
        if raw.cell("secret") == .null || raw.cell("secret") == .text("") { throw .missingSecret }
        guard let secret = raw.cell("secret").text,
            secret.unicodeScalars.count <= SpoolLimits.secretLengthMax,
            raw.cells.allSatisfy({ $0 == .null || $0.text != nil }), areShort(raw)
        else { throw .malformedRow }
        var credential = SubmittedCredential(kind: kind, secret: Secret(secret))
        credential.clientID = raw.cell("client_id").text
        credential.subject = raw.cell("subject").text.map { Secret($0) }
        credential.redirectURI = raw.cell("redirect_uri").text
        credential.codeVerifier = raw.cell("code_verifier").text.map { Secret($0) }
        credential.rawNonce = raw.cell("raw_nonce").text.map { Secret($0) }
        return CredentialOffer(
            user: user,
            userHash: hasher.hash(userText, domain: .user),
            provider: ProviderName(provider),
            credential: credential,
            createdAt: createdAt,
            spoolRow: row(raw)
        )
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
