import Encoding
import Engine
import HTTP
import Lifecycle
import NIOHTTP1
import Synchronization

/// How the admin API of an identity server lists and ends what a user granted a client.
struct UserGrants: Sendable {
    enum Value: Sendable { case user, client }

    struct Call: Sendable {
        let method: HTTPMethod
        /// Below ``OAuth2Profile/adminURL``, with `{}` for each of `values`.
        let path: String
        var values: [Value] = []
        var query: [(StaticString, Value)] = []
        /// Documented answers besides those of every call.
        var rows: [ReplyRow] = []
        /// Of a list: the member of an entry with the id of its client, or with several; `nil`: all
        /// are the client's.
        var client: String?
        /// The least that the server takes for a page; Hydra's first version: 100.
        var pageMin = 100
        var isList: Bool { method == .GET }

        /// Whether a list names a live grant of the client; `nil` where it may hide one: behind a
        /// full page, or in an entry that names no client.
        func names(_ clientID: String, in entries: [JSONValue]) -> Bool? {
            var isWhole = entries.count < pageMin
            // Okta's word for what has ended.
            for entry in entries where entry["status"]?.string != "REVOKED" {
                guard let client else { return true }
                switch entry.member(at: client) {
                case .string(let id): if id == clientID { return true }
                case .object(let members):
                    if members.contains(where: { $0.value.string == clientID }) { return true }
                default: isWhole = false
                }
            }
            return isWhole ? false : nil
        }
    }

    let lists: [Call]
    let ends: [Call]
    /// Whether the lists name all that the user granted.
    var isComplete = false
    /// The scheme of a token of the operator's.
    var scheme: StaticString = "Bearer"
    /// Whether the address is the audience of a token for it.
    var hasAudience = false
    /// What a server answers with 404 for a user that it does not know.
    var unknownUser: ReplyShape?
    /// The word, in lower case, that stands for the owner of the operator's token.
    var ownerWord: String?

    /// What fits every call: 401 and 403 are about our own token (RFC 9110 §15.5.2, §15.5.4).
    var rows: [ReplyRow] {
        let unknown = unknownUser.map { [ReplyRow(404, $0, .refused)] } ?? []
        return unknown + [
            ReplyRow(401, .noPage, .failure(.misconfigured)),
            ReplyRow(403, .noPage, .failure(.misconfigured)),
        ]
    }
}

/// The admin API of one provider.
struct AdminAPI: Sendable {
    /// What opens it.
    enum Access: Sendable {
        /// A port that the operator guards (Hydra).
        case open
        case token(Secret)
        /// A client that gets tokens for itself.
        case client(OAuth2Client)
    }

    /// A call; what one endpoint refuses says nothing of another.
    struct Step: Sendable {
        let call: UserGrants.Call
        let endpoint: RemoteEndpoint
        let judge: RefusalJudge
    }

    let url: String
    let grants: UserGrants
    let access: Access
    let lists: [Step]
    let ends: [Step]

    /// - Returns: `nil` where none is configured.
    /// - Throws: ``SetupError`` for an address that is no base URL.
    init?(
        _ profile: OAuth2Profile,
        _ access: Access,
        _ settings: RemoteSettings,
        now: @escaping @Sendable () -> WallTime
    ) throws(SetupError) {
        guard let url = profile.adminURL, let grants = profile.grants else { return nil }
        let base = try RemoteBaseURL(url, settings)
        var steps: [Step] = []
        for call in grants.lists + grants.ends {
            let endpoint = try RemoteEndpoint(base, path: call.path, method: call.method)
            steps.append(Step(call: call, endpoint: endpoint, judge: RefusalJudge(now: now)))
        }
        (self.url, self.grants, self.access) = (url, grants, access)
        lists = Array(steps.prefix(grants.lists.count))
        ends = Array(steps.dropFirst(grants.lists.count))
    }
}

extension OAuth2Provider {
    /// Asks whether the user has a grant for the client.
    func checkGrants(_ credential: OpenCredential) async -> CheckAnswer {
        guard let admin else { return .failure(.unusable) }
        return await find(credential, admin) ?? .dead
    }

    /// Ends what the user granted the client.
    ///
    /// A success is worth what the lists show afterwards.
    func revokeGrants(_ credential: OpenCredential) async -> RevokeAnswer {
        guard let admin else { return .failure(.unusable) }
        guard let found = await find(credential, admin) else { return .unfit }
        if let failure = found.failure { return .failure(failure) }
        for step in admin.ends {
            let reading = await ask(step, admin, credential)
            guard reading.meaning != .refused else { return .failure(.rejected) }
            if let failure = await judge(reading, step, admin) { return .failure(failure) }
        }
        return found == .dead && admin.grants.isComplete ? .grantGone : .success
    }

    /// - Returns: `nil` for a user whom the server does not know.
    private func find(_ credential: OpenCredential, _ admin: AdminAPI) async -> CheckAnswer? {
        var found = CheckAnswer.dead
        for step in admin.lists {
            let reading = await ask(step, admin, credential)
            if reading.meaning == .refused { return nil }
            if let failure = await judge(reading, step, admin) { return .failure(failure) }
            let isNamed = step.call.names(credential.clientID, in: reading.json?.array ?? [])
            if isNamed == true { return .live }
            if isNamed == nil { found = .unknown }
        }
        return found
    }

    /// Why a call brought no answer; whom a refusal concerns shows a user who cannot exist.
    private func judge(
        _ reading: ReplyReading,
        _ step: AdminAPI.Step,
        _ admin: AdminAPI
    ) async -> EffectFailure? {
        guard case .failure(let failure) = reading.meaning else {
            return reading.meaning == .honoured ? nil : .unusable
        }
        guard let refusal = reading.refusal else { return failure }
        guard failure == .misconfigured else {
            return await step.judge.judge(refusal, or: failure) { await probe(step, admin) }
        }
        // A server may forbid what is about a single user, such as an administrator.
        switch await probe(step, admin).meaning {
        case .honoured, .refused: return .refused(refusal.refusal)
        case .unclear, .failure: return failure
        }
    }

    private func probe(_ step: AdminAPI.Step, _ admin: AdminAPI) async -> ReplyReading {
        guard let clientID = clients.keys.min() else { return .misconfigured }
        let madeUp = OpenCredential(
            kind: .subject,
            clientID: clientID,
            secret: RefusalJudge.madeUp
        )
        return await AnswerRecorder.probing { await ask(step, admin, madeUp) }
    }

    /// What is wrong with the admin API, by a user who cannot exist; `nil` when nothing is.
    func problemOfGrants() async -> ProviderProblem? {
        guard let admin else { return nil }
        for step in admin.lists + admin.ends {
            let reading = await probe(step, admin)
            // What else is said of the end of nothing is not documented.
            guard case .failure(let failure) = reading.meaning,
                step.call.isList || failure == .misconfigured
            else { continue }
            let answer = reading.refusal.map { " (\($0.refusal.text))" } ?? ""
            let act = step.call.isList ? "lists" : "ends"
            return ProviderProblem(
                failure == .rejected ? .unusable : failure,
                "the admin API \(admin.url) \(act) no grants\(answer); check admin_url,"
                    + " admin_secret_credential, admin_client_id, and what the server lets them do",
                naming: reading.refusal?.refusal
            )
        }
        return nil
    }

    private func ask(
        _ step: AdminAPI.Step,
        _ admin: AdminAPI,
        _ credential: OpenCredential
    ) async -> ReplyReading {
        func text(_ value: UserGrants.Value) -> Secret {
            value == .user ? credential.secret : Secret(credential.clientID)
        }
        let call = step.call
        // What is another user's word, and a value that no path can have, is no user's id.
        guard credential.secret.exposeText().lowercased() != admin.grants.ownerWord,
            var request = RemoteRequest(step.endpoint, filling: call.values.map(text))
        else { return ReplyReading(meaning: .refused) }
        if !call.query.isEmpty {
            var query = FormBody()
            for (name, value) in call.query { query.add(name, text(value)) }
            request.query = query
        }
        let success = ReplyRow(200...(call.isList ? 200 : 204), .noPage, .honoured)
        let table = ReplyTable([success] + call.rows + admin.grants.rows)
        var isKept = adminToken.withLock { $0 != nil }
        while true {
            if let failure = await authorize(&request, admin) {
                return ReplyReading(meaning: .failure(failure))
            }
            let outcome = await http.send(request)
            // A token that was kept may have been ended at the server (RFC 6750 §3.1).
            if isKept, case .reply(let reply) = outcome, reply.status == 401 {
                isKept = false
                adminToken.withLock { $0 = nil }
                continue
            }
            let reading = table.read(outcome, now: now())
            let isNoList = call.isList && reading.json?.array == nil
            return reading.meaning == .honoured && isNoList
                ? ReplyReading(meaning: .failure(.unusable)) : reading
        }
    }

    private func authorize(
        _ request: inout RemoteRequest,
        _ admin: AdminAPI
    ) async -> EffectFailure? {
        switch admin.access {
        case .open: return nil
        case .token(let token):
            request.authorization = .scheme(admin.grants.scheme, token)
        case .client(let client):
            let kept = adminToken.withLock { $0 }
            if let (secret, freshUntil) = kept, now() < freshUntil {
                request.authorization = .bearer(secret)
                break
            }
            let audience = admin.grants.hasAudience ? admin.url + "/" : nil
            switch await clientToken(client, at: .token, audience: audience) {
            case .failure(let failure): return failure
            case .success(let grant):
                let freshUntil = now() + (grant.lifetime ?? .zero) / 2
                adminToken.withLock { $0 = (grant.accessToken, freshUntil) }
                request.authorization = .bearer(grant.accessToken)
            }
        }
        return request.authorization == nil ? .misconfigured : nil
    }
}
