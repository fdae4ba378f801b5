import FoundationEssentials
import Synchronization

/// Plays `appleid.apple.com`: `/auth/token`, `/auth/revoke`, `/auth/keys`.
final class AppleFamily: ProviderFamily {
    let name = "apple"
    private static let jsonType = "application/json;charset=UTF-8"

    let clients = AppleClients()
    let signingKeys: SigningKeys
    let configuration: AppleConfiguration
    let clock: SandboxClock
    let state: Mutex<AppleState>
    private let journal: CallJournal

    init(configuration: AppleConfiguration, _ tools: FamilyTools) {
        self.configuration = configuration
        clock = tools.clock
        journal = tools.journal
        signingKeys = SigningKeys(family: name)
        state = Mutex(
            AppleState(capacity: tools.capacity, refreshLimit: configuration.refreshLimit)
        )
    }

    func endpoint(method: String, path: String) -> SandboxEndpoint? {
        switch (method, path) {
        case ("POST", "/auth/token"): .token
        case ("POST", "/auth/revoke"): .revoke
        case ("GET", "/auth/keys"): .keys
        default: nil
        }
    }

    func answer(_ call: ProviderCall) -> ProviderReply {
        switch call.endpoint {
        case .token: answerToken(call)
        case .revoke: answerRevoke(call)
        default: answerKeys(call)
        }
    }

    func recordSkipped(_ call: ProviderCall, status: Int) {
        let form = FormBody(call.body)
        var record = record(of: call, form: form, outcome: .none, status: status)
        let digest = (form["code"] ?? form["refresh_token"] ?? form["token"]).map(TokenDigest.init)
        state.withLock { state in
            describe(digest, in: state, to: &record)
            journal.append(record, at: clock.nowMilliseconds)
        }
    }

    // MARK: - Endpoints

    private func answerKeys(_ call: ProviderCall) -> ProviderReply {
        journal.append(
            record(of: call, form: nil, outcome: .served, status: 200),
            at: clock.nowMilliseconds
        )
        do {
            let body = try signingKeys.published()
            return ProviderReply(status: 200, contentType: Self.jsonType, body: body)
        } catch {
            return ProviderReply(status: 500)
        }
    }

    private func answerToken(_ call: ProviderCall) -> ProviderReply {
        let form = FormBody(call.body)
        do throws(AppleRefusal) {
            let clientID = try authenticate(call, form)
            switch form["grant_type"] {
            case "authorization_code": return try exchange(call, form, clientID)
            case "refresh_token": return try check(call, form, clientID)
            case nil: throw AppleRefusal.invalidRequest
            default: throw AppleRefusal.unsupportedGrantType
            }
        } catch {
            return refuse(call, form, error)
        }
    }

    private func exchange(
        _ call: ProviderCall,
        _ form: FormBody,
        _ clientID: String
    ) throws(AppleRefusal) -> ProviderReply {
        guard let code = form["code"] else { throw .invalidRequest }
        let digest = TokenDigest(code)
        let refreshToken = TokenGenerator.token("r")
        let accessToken = TokenGenerator.token("a")
        let issue = (refresh: TokenDigest(refreshToken), access: TokenDigest(accessToken))
        let success = record(of: call, form: form, outcome: .none, status: 200)
        let finding = try perform(digest, success) { state, now throws(AppleRefusal) in
            let finding = try state.redeem(
                digest,
                clientID: clientID,
                redirectURI: form["redirect_uri"],
                nowSeconds: now,
                issue: issue
            )
            return (finding, .exchanged)
        }
        return tokens(clientID, finding, accessToken, refreshToken: refreshToken, hasIDToken: true)
    }

    private func check(
        _ call: ProviderCall,
        _ form: FormBody,
        _ clientID: String
    ) throws(AppleRefusal) -> ProviderReply {
        guard let token = form["refresh_token"] else { throw .invalidRequest }
        let digest = TokenDigest(token)
        let accessToken = TokenGenerator.token("a")
        let access = TokenDigest(accessToken)
        let success = record(of: call, form: form, outcome: .none, status: 200)
        let finding = try perform(digest, success) { state, now throws(AppleRefusal) in
            let finding = try state.validate(
                digest,
                clientID: clientID,
                nowSeconds: now,
                access: access
            )
            return (finding, .validated)
        }
        return tokens(
            clientID,
            finding,
            accessToken,
            refreshToken: nil,
            hasIDToken: configuration.returnsIDTokenOnRefresh
        )
    }

    private func answerRevoke(_ call: ProviderCall) -> ProviderReply {
        let form = FormBody(call.body)
        do throws(AppleRefusal) {
            let clientID = try authenticate(call, form)
            let isMisnamed = form["refresh_token"] != nil || form["access_token"] != nil
            if form["token"] == nil, isMisnamed, configuration.misnamedToken == .accept {
                let ignored = record(of: call, form: form, outcome: .ignored, status: 200)
                state.withLock { _ in journal.append(ignored, at: clock.nowMilliseconds) }
                return ProviderReply(status: 200)
            }
            guard let token = form["token"] else { throw AppleRefusal.invalidRequest }
            let digest = TokenDigest(token)
            let success = record(of: call, form: form, outcome: .none, status: 200)
            _ = try perform(digest, success) { state, now throws(AppleRefusal) in
                let isCut = try state.revoke(digest, clientID: clientID, nowSeconds: now)
                return (isCut, isCut ? .revoked : .ignored)
            }
            return ProviderReply(status: 200)
        } catch {
            return refuse(call, form, error)
        }
    }

    // MARK: - Steps

    /// Checks the form and the client secret; Apple answers 400 where RFC 6749 has 401.
    private func authenticate(
        _ call: ProviderCall,
        _ form: FormBody
    ) throws(AppleRefusal) -> String {
        // A JSON body is not even read: Apple then misses the client.
        let type = call.contentType?.lowercased() ?? ""
        guard type.hasPrefix("application/x-www-form-urlencoded") else { throw .invalidClient }
        guard !form.hasDuplicates else { throw .invalidRequest }
        guard let clientID = form["client_id"], let secret = form["client_secret"],
            clients.accepts(
                secret: secret,
                for: clientID,
                nowMilliseconds: clock.nowMilliseconds
            )
        else { throw .invalidClient }
        return clientID
    }

    /// Changes the state and records it in one step, so that the journal has the true order.
    ///
    /// A refusal is recorded here too, and leaves as the error.
    private func perform<Result: Sendable>(
        _ digest: TokenDigest,
        _ success: CallRecord,
        _ body: (inout AppleState, Int64) throws(AppleRefusal) -> (Result, CallRecord.Outcome)
    ) throws(AppleRefusal) -> Result {
        let now = clock.nowMilliseconds
        let result: Swift.Result<Result, AppleRefusal> = state.withLock { state in
            var record = success
            describe(digest, in: state, to: &record)
            do throws(AppleRefusal) {
                let (result, outcome) = try body(&state, now / 1000)
                record.outcome = outcome
                journal.append(record, at: now)
                return .success(result)
            } catch {
                record.outcome = .refused
                record.status = error.status
                record.error = error.code
                journal.append(record, at: now)
                return .failure(error.recorded)
            }
        }
        return try result.get()
    }

    private func refuse(
        _ call: ProviderCall,
        _ form: FormBody,
        _ refusal: AppleRefusal
    ) -> ProviderReply {
        if !refusal.isRecorded {
            var record = record(of: call, form: form, outcome: .refused, status: refusal.status)
            record.error = refusal.code
            journal.append(record, at: clock.nowMilliseconds)
        }
        guard refusal.status == 400 else { return ProviderReply(status: refusal.status) }
        return json(
            AppleErrorResponse(error: refusal.code, errorDescription: refusal.explanation),
            status: 400
        )
    }

    private func tokens(
        _ clientID: String,
        _ finding: AppleState.Finding,
        _ accessToken: String,
        refreshToken: String?,
        hasIDToken: Bool
    ) -> ProviderReply {
        do {
            var idToken: String?
            if hasIDToken {
                idToken = try signingKeys.sign(
                    AppleIDClaims(
                        subject: finding.subject,
                        audience: clientID,
                        issuedSeconds: clock.nowSeconds,
                        lifetimeSeconds: configuration.idTokenLifetimeSeconds,
                        nonce: finding.nonce,
                        bound: (code: nil, accessToken: accessToken)
                    )
                )
            }
            return json(
                AppleTokenResponse(
                    accessToken: accessToken,
                    refreshToken: refreshToken,
                    idToken: idToken
                ),
                status: 200
            )
        } catch {
            return ProviderReply(status: 500)
        }
    }

    private func json(_ value: some Encodable, status: Int) -> ProviderReply {
        do {
            let body = Array(try JSONEncoder().encode(value))
            return ProviderReply(status: status, contentType: Self.jsonType, body: body)
        } catch {
            return ProviderReply(status: 500)
        }
    }

    private func record(
        of call: ProviderCall,
        form: FormBody?,
        outcome: CallRecord.Outcome,
        status: Int
    ) -> CallRecord {
        var record = CallRecord(
            provider: name,
            endpoint: call.endpoint,
            outcome: outcome,
            status: status
        )
        // Bounded, since they come from the caller.
        record.grantType = form?["grant_type"].map { String($0.prefix(64)) }
        record.clientID = form?["client_id"].map { String($0.prefix(255)) }
        record.fault = call.fault
        return record
    }

    private func describe(
        _ digest: TokenDigest?,
        in state: AppleState,
        to record: inout CallRecord
    ) {
        guard let digest else { return }
        record.token = digest.prefix
        record.subject = state.subject(of: digest)
    }
}
