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
    }

    struct List: Sendable {
        let call: Call
        /// The member of an entry with the id of its client, or with several; `nil`: all are the
        /// client's.
        var client: String?

        /// Answers `nil` where a full page may hide what is looked for.
        func names(_ clientID: String, in entries: [JSONValue]) -> Bool? {
            let isNamed = entries.contains { entry in
                // Okta's word for what has ended.
                guard entry["status"]?.string != "REVOKED" else { return false }
                guard let client else { return true }
                switch entry.member(at: client) {
                case .string(let id): return id == clientID
                case .object(let members): return members.contains { $0.value.string == clientID }
                default: return false
                }
            }
            return isNamed || entries.count < UserGrants.pageMin ? isNamed : nil
        }
    }

    /// The least that a server takes for a page; Hydra's first version: 100.
    static let pageMin = 100

    let lists: [List]
    let ends: [Call]
    /// Whether the lists name all that the user granted.
    var isComplete = false
    /// The scheme of a token of the operator's.
    var scheme: StaticString = "Bearer"
    /// Whether the address is the audience of a token for it.
    var hasAudience = false
    /// What a server answers with 404 for a user that it does not know.
    var unknownUser: ReplyShape?

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

    struct Token: Sendable {
        let secret: Secret
        let freshUntil: WallTime
    }

    let url: String
    let grants: UserGrants
    let access: Access
    let lists: [RemoteEndpoint]
    let ends: [RemoteEndpoint]

    /// - Returns: `nil` where none is configured.
    /// - Throws: ``SetupError`` for an address that is no base URL.
    init?(
        _ profile: OAuth2Profile,
        _ access: Access,
        _ settings: RemoteSettings
    ) throws(SetupError) {
        guard let url = profile.adminURL, let grants = profile.grants else { return nil }
        let base = try RemoteBaseURL(url, settings)
        var endpoints: [RemoteEndpoint] = []
        for call in grants.lists.map(\.call) + grants.ends {
            endpoints.append(try RemoteEndpoint(base, path: call.path, method: call.method))
        }
        (self.url, self.grants, self.access) = (url, grants, access)
        lists = Array(endpoints.prefix(grants.lists.count))
        ends = Array(endpoints.dropFirst(grants.lists.count))
    }
}

extension OAuth2Provider {
    private enum Finding { case listed, unlisted, cutOff, noUser }

    /// Asks whether the user has a grant for the client.
    func checkGrants(_ credential: OpenCredential) async -> CheckAnswer {
        guard let admin else { return .failure(.unusable) }
        do throws(EffectFailure) {
            switch try await find(credential, admin) {
            case .listed: return .live
            case .unlisted, .noUser: return .dead
            case .cutOff: return .unknown
            }
        } catch {
            return .failure(error)
        }
    }

    /// Ends what the user granted the client. A success is worth what the lists show afterwards.
    func revokeGrants(_ credential: OpenCredential) async -> RevokeAnswer {
        guard let admin else { return .failure(.unusable) }
        do throws(EffectFailure) {
            let found = try await find(credential, admin)
            if found == .noUser { return .unfit }
            for (call, endpoint) in zip(admin.grants.ends, admin.ends) {
                let success = ReplyRow(200...204, .noPage, .honoured)
                let reading = await ask(call, endpoint, admin, credential, [success])
                guard reading.meaning != .refused else { throw EffectFailure.rejected }
                if let failure = await judge(reading, admin) { throw failure }
            }
            return found == .unlisted && admin.grants.isComplete ? .grantGone : .success
        } catch {
            return .failure(error)
        }
    }

    private func find(
        _ credential: OpenCredential,
        _ admin: AdminAPI
    ) async throws(EffectFailure) -> Finding {
        var found = Finding.unlisted
        for (list, endpoint) in zip(admin.grants.lists, admin.lists) {
            let reading = await read(list, endpoint, admin, credential)
            if reading.meaning == .refused { return .noUser }
            if let failure = await judge(reading, admin) { throw failure }
            let isNamed = list.names(credential.clientID, in: reading.json?.array ?? [])
            if isNamed == true { return .listed }
            if isNamed == nil { found = .cutOff }
        }
        return found
    }

    /// Why a call brought no answer; whom a refusal concerns shows a user who cannot exist.
    private func judge(_ reading: ReplyReading, _ admin: AdminAPI) async -> EffectFailure? {
        guard case .failure(let failure) = reading.meaning else {
            return reading.meaning == .honoured ? nil : .unusable
        }
        guard failure != .misconfigured, let refusal = reading.refusal else { return failure }
        return await grantJudge.judge(refusal, or: failure) { await probe(admin) }
    }

    private func probe(_ admin: AdminAPI) async -> ReplyReading {
        guard let list = admin.grants.lists.first, let endpoint = admin.lists.first,
            let clientID = clients.keys.min()
        else { return .misconfigured }
        let madeUp = OpenCredential(
            kind: .subject,
            clientID: clientID,
            secret: RefusalJudge.madeUp
        )
        return await AnswerRecorder.probing { await read(list, endpoint, admin, madeUp) }
    }

    /// What is wrong with the admin API, by a user who cannot exist; `nil` when nothing is.
    func problemOfGrants() async -> ProviderProblem? {
        guard let admin else { return nil }
        let place = "the admin API \(admin.url)"
        let reading = await probe(admin)
        guard case .failure(let failure) = reading.meaning else { return nil }
        if failure == .unreachable, let endpoint = admin.lists.first,
            let reason = await http.connectionFailure(endpoint)
        {
            return ProviderProblem(.unreachable, "\(place): \(reason); check admin_url")
        }
        let answer = reading.refusal.map { " (\($0.refusal.text))" } ?? ""
        return ProviderProblem(
            failure == .rejected ? .unusable : failure,
            "\(place) lists no grants\(answer); check admin_url, admin_secret_credential,"
                + " admin_client_id, and what the server lets them do",
            naming: reading.refusal?.refusal
        )
    }

    private func read(
        _ list: UserGrants.List,
        _ endpoint: RemoteEndpoint,
        _ admin: AdminAPI,
        _ credential: OpenCredential
    ) async -> ReplyReading {
        let success = ReplyRow(200, .member("", .isPresent), .honoured)
        let reading = await ask(list.call, endpoint, admin, credential, [success])
        guard reading.meaning == .honoured, reading.json?.array == nil else { return reading }
        return ReplyReading(meaning: .failure(.unusable))
    }

    private func ask(
        _ call: UserGrants.Call,
        _ endpoint: RemoteEndpoint,
        _ admin: AdminAPI,
        _ credential: OpenCredential,
        _ success: [ReplyRow]
    ) async -> ReplyReading {
        func text(_ value: UserGrants.Value) -> Secret {
            value == .user ? credential.secret : Secret(credential.clientID)
        }
        // A value that no path can have is no user's id.
        guard var request = RemoteRequest(endpoint, filling: call.values.map(text)) else {
            return ReplyReading(meaning: .refused)
        }
        if !call.query.isEmpty {
            var query = FormBody()
            for (name, value) in call.query { query.add(name, text(value)) }
            request.query = query
        }
        let table = ReplyTable(success + call.rows + admin.grants.rows)
        var isKept = adminToken.withLock { $0 != nil }
        while true {
            if let failure = await authorize(&request, admin) {
                return ReplyReading(meaning: .failure(failure))
            }
            let reading = table.read(await http.send(request), now: now())
            // A token that was kept may have been ended at the server.
            guard isKept, reading.meaning == .failure(.misconfigured) else { return reading }
            isKept = false
            adminToken.withLock { $0 = nil }
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
            if let kept, now() < kept.freshUntil {
                request.authorization = .bearer(kept.secret)
                break
            }
            let audience = admin.grants.hasAudience ? admin.url + "/" : nil
            switch await clientToken(client, at: .token, audience: audience) {
            case .failure(let failure): return failure
            case .success(let grant):
                let freshUntil = now() + (grant.lifetime ?? .zero) / 2
                adminToken.withLock {
                    $0 = AdminAPI.Token(secret: grant.accessToken, freshUntil: freshUntil)
                }
                request.authorization = .bearer(grant.accessToken)
            }
        }
        return request.authorization == nil ? .misconfigured : nil
    }
}
