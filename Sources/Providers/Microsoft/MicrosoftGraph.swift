import Encoding
import Engine
import HTTP
import Lifecycle
import NIOHTTP1
import Synchronization

/// Takes back what one user granted to the application, by Microsoft Graph.
///
/// Works only where the user's own tenant consented to it. What an administrator granted for the
/// whole tenant is never touched: it is other people's too.
final class MicrosoftGraph: Sendable {
    /// Renews an application's token this long before it ends.
    private static let margin = Duration.seconds(120)

    private struct AppToken: Sendable {
        let secret: Secret
        let expiresAt: WallTime
    }

    private let http: RemoteClient
    private let endpoints: MicrosoftGraphEndpoints
    private let client: MicrosoftClient
    private let revokesSessions: Bool
    private let now: @Sendable () -> WallTime
    /// By directory.
    private let tokens = Mutex<[String: AppToken]>([:])
    /// By directory.
    let gate: ClientGate

    init(
        _ http: RemoteClient,
        _ endpoints: MicrosoftGraphEndpoints,
        client: MicrosoftClient,
        revokesSessions: Bool,
        now: @escaping @Sendable () -> WallTime
    ) {
        (self.http, self.endpoints, self.client) = (http, endpoints, client)
        (self.revokesSessions, self.now) = (revokesSessions, now)
        gate = ClientGate(isOfDirectories: true, now: now)
    }

    /// Deletes the user's grants and assignments of the application.
    ///
    /// - Returns: Success when at least one grant or assignment ended; `userOnly` when an
    ///   administrator's grant covers the user all the same; `alreadyInvalid` when nothing was
    ///   listed, which is no proof: the lists lag behind ("List oauth2PermissionGrants").
    func revoke(_ user: MicrosoftID) async -> RevokeAnswer {
        var isOfUser = false
        do throws(EffectFailure) {
            guard let principal = try await findPrincipal(in: user.tenant) else {
                return .alreadyInvalid
            }
            let isGrantedToAll = try await isGrantedToAll(principal, in: user.tenant)
            isOfUser = true
            // Before the deletions: a second try finds nothing left to count.
            if revokesSessions { try await endSessions(of: user) }
            var count = try await deleteGrants(of: user, to: principal)
            count += try await deleteAssignments(of: user, to: principal)
            if isGrantedToAll { return .userOnly }
            return count > 0 ? .success : .alreadyInvalid
        } catch {
            // Where the directory itself does not answer, one user who waits is enough to know it.
            if !isOfUser { gate.noteAnswer(of: user.tenant, for: nil, error) }
            return .failure(error)
        }
    }

    /// Reads what every revocation reads first; `refusesAll` for a tenant that refuses it.
    func diagnose(_ tenant: String) async -> EffectFailure? {
        let answer: CheckAnswer
        do throws(EffectFailure) {
            _ = try await findPrincipal(in: tenant)
            answer = .live
        } catch {
            answer = .failure(error)
        }
        // An answer counts for the gate, too: the directory is not away any more.
        return await gate.pass(tenant) { answer }.failure
    }

    /// The application's own object in the tenant; `nil` when there is none, hence no grant.
    private func findPrincipal(in tenant: String) async throws(EffectFailure) -> String? {
        let call = Call(endpoints.principal, [client.clientID], ("$select", "id"))
        let reading = try await send(call, in: tenant, MicrosoftReplies.principal)
        guard let reading else { return nil }
        guard let id = reading.json?["id"]?.string?.lowercased(), MicrosoftID.isGUID(id) else {
            throw EffectFailure.unusable
        }
        return id
    }

    private func deleteGrants(
        of user: MicrosoftID,
        to principal: String
    ) async throws(EffectFailure) -> Int {
        let filter = "clientId eq '\(principal)' and principalId eq '\(user.object)'"
        let call = Call(endpoints.grants, [], ("$filter", filter), of: user.object)
        let grants = try await list(call, in: user.tenant)
        var count = 0
        // The filter is not trusted: what Graph sends back decides.
        for grant in grants
        where Self.id(grant["clientId"]) == principal
            && Self.id(grant["principalId"]) == user.object
            && grant["consentType"]?.string == "Principal"
        {
            let id = try Self.text(grant["id"])
            count += try await delete(Call(endpoints.grant, [id], of: id), in: user.tenant)
        }
        return count
    }

    private func deleteAssignments(
        of user: MicrosoftID,
        to principal: String
    ) async throws(EffectFailure) -> Int {
        let filter = "resourceId eq \(principal)"
        let object = user.object
        let call = Call(endpoints.assignments, [object], ("$filter", filter), of: object)
        let assignments = try await list(call, in: user.tenant)
        var count = 0
        for assignment in assignments
        where Self.id(assignment["resourceId"]) == principal
            && Self.id(assignment["principalId"]) == user.object
        {
            let id = try Self.text(assignment["id"])
            let call = Call(endpoints.assignment, [principal, id], of: id)
            count += try await delete(call, in: user.tenant)
        }
        return count
    }

    private func isGrantedToAll(
        _ principal: String,
        in tenant: String
    ) async throws(EffectFailure) -> Bool {
        let filter = "clientId eq '\(principal)' and consentType eq 'AllPrincipals'"
        let call = Call(endpoints.grants, [], ("$filter", filter))
        return try await list(call, in: tenant).contains {
            Self.id($0["clientId"]) == principal && $0["consentType"]?.string == "AllPrincipals"
        }
    }

    private func endSessions(of user: MicrosoftID) async throws(EffectFailure) {
        let call = Call(endpoints.sessions, [user.object], of: user.object)
        _ = try await send(call, in: user.tenant, MicrosoftReplies.sessions)
    }

    /// - Returns: 1 when it ended now, 0 when it was gone before.
    private func delete(_ call: Call, in tenant: String) async throws(EffectFailure) -> Int {
        try await send(call, in: tenant, MicrosoftReplies.delete) == nil ? 0 : 1
    }

    /// One page holds all that one user has with one application; a second one is not understood.
    private func list(_ call: Call, in tenant: String) async throws(EffectFailure) -> [JSONValue] {
        guard let reading = try await send(call, in: tenant, MicrosoftReplies.list) else {
            return []
        }
        guard let items = reading.json?["value"]?.array, reading.json?["@odata.nextLink"] == nil
        else { throw EffectFailure.unusable }
        return items
    }

    private struct Call {
        let endpoint: RemoteEndpoint
        let values: [String]
        let query: (StaticString, String)?
        /// The user, grant or assignment; `nil` for what concerns the whole directory.
        let item: String?

        init(
            _ endpoint: RemoteEndpoint,
            _ values: [String],
            _ query: (StaticString, String)? = nil,
            of item: String? = nil
        ) {
            (self.endpoint, self.values, self.query) = (endpoint, values, query)
            self.item = item
        }

        /// The same call about something that cannot exist.
        var madeUp: Self? {
            guard let item else { return nil }
            let none = "00000000-0000-0000-0000-000000000000"
            return Self(
                endpoint,
                values.map { $0 == item ? none : $0 },
                query.map { ($0.0, $0.1.replacing(item, with: none)) }
            )
        }
    }

    /// - Returns: What Graph said; `nil` when the thing is not there.
    private func send(
        _ call: Call,
        in tenant: String,
        _ table: ReplyTable
    ) async throws(EffectFailure) -> ReplyReading? {
        let reading = try await ask(call, in: tenant, table)
        if let refusal = reading.refusal {
            throw await judge(refusal, of: call, in: tenant, table)
        }
        gate.note(reading, of: tenant)
        switch reading.meaning {
        case .honoured: return reading
        case .refused: return nil
        case .unclear: throw EffectFailure.rejected
        case .failure(let failure): throw failure
        }
    }

    private func ask(
        _ call: Call,
        in tenant: String,
        _ table: ReplyTable
    ) async throws(EffectFailure) -> ReplyReading {
        let token = try await token(for: tenant)
        let request =
            call.values.isEmpty
            ? RemoteRequest(call.endpoint)
            : RemoteRequest(call.endpoint, filling: call.values.map { Secret($0) })
        guard var request, let authorization = Authorization.bearer(token) else {
            throw EffectFailure.unusable
        }
        if let (name, value) = call.query {
            request.query = FormBody()
            request.query?.add(name, value)
        }
        request.authorization = authorization
        let outcome = await http.send(request)
        let reading = table.read(outcome, now: now())
        guard case .reply(let reply) = outcome else { return reading }
        if reply.status == 401 {
            // The token was taken back; the next try gets a new one.
            tokens.withLock { _ = $0.removeValue(forKey: tenant) }
        }
        // 401 is about the application's token, and no user's; Graph writes other words.
        guard reply.status != 401, reading.refusal?.isForeign != true else {
            gate.note(reading, of: tenant)
            return ReplyReading(meaning: .failure(.unusable))
        }
        return reading
    }

    /// Decides whom a refusal concerns.
    ///
    /// Graph may refuse what is about a single user, such as an administrator. The directory is
    /// refused only if something that cannot exist is refused alike.
    private func judge(
        _ refusal: ReplyRefusal,
        of call: Call,
        in tenant: String,
        _ table: ReplyTable
    ) async -> EffectFailure {
        if let madeUp = call.madeUp {
            let failure = await RefusalJudge(now: now).judge(refusal, or: .unusable) {
                do throws(EffectFailure) {
                    return try await ask(madeUp, in: tenant, table)
                } catch {
                    return ReplyReading(meaning: .failure(error))
                }
            }
            guard case .refusesAll = failure else { return failure }
        }
        var reading = ReplyReading.misconfigured
        reading.refusal = refusal
        gate.note(reading, of: tenant)
        return .misconfigured
    }

    /// The application's own token for one tenant, kept until shortly before its end.
    private func token(for tenant: String) async throws(EffectFailure) -> Secret {
        let start = now()
        if let kept = tokens.withLock({ $0[tenant] }), start < kept.expiresAt {
            return kept.secret
        }
        let address = endpoints.tokenURL(of: tenant)
        guard var form = client.form(for: address, now: start),
            var request = RemoteRequest(endpoints.token, filling: [Secret(tenant)])
        else { throw EffectFailure.misconfigured }
        form.add("grant_type", "client_credentials")
        form.add("scope", "https://graph.microsoft.com/.default")
        request.body = .form(form)
        let reading = MicrosoftReplies.application.read(await http.send(request), now: start)
        gate.note(reading, of: tenant)
        switch reading.meaning {
        case .honoured:
            guard let grant = reading.grant else { throw EffectFailure.unusable }
            let lifetime = (grant.lifetime ?? .zero) - Self.margin
            tokens.withLock {
                $0[tenant] = AppToken(secret: grant.accessToken, expiresAt: start + lifetime)
            }
            return grant.accessToken
        case .refused, .unclear: throw EffectFailure.unusable
        // Nothing about the user was sent yet, whatever became of this call.
        case .failure(.lost): throw EffectFailure.unreachable
        case .failure(.rejected): throw EffectFailure.unusable
        case .failure(let failure): throw failure
        }
    }

    private static func id(_ value: JSONValue?) -> String? { value?.string?.lowercased() }

    private static func text(_ value: JSONValue?) throws(EffectFailure) -> String {
        guard let text = value?.string else { throw EffectFailure.unusable }
        return text
    }
}

/// The addresses of Microsoft Graph v1.0, and where the application gets its token for it.
struct MicrosoftGraphEndpoints: Sendable {
    let token: RemoteEndpoint
    let principal: RemoteEndpoint
    let grants: RemoteEndpoint
    let grant: RemoteEndpoint
    let assignments: RemoteEndpoint
    let assignment: RemoteEndpoint
    let sessions: RemoteEndpoint
    private let login: RemoteBaseURL

    init(login: RemoteBaseURL, graph: RemoteBaseURL) throws(SetupError) {
        self.login = login
        func at(_ path: String, _ method: HTTPMethod) throws(SetupError) -> RemoteEndpoint {
            try RemoteEndpoint(graph, path: "/v1.0" + path, method: method)
        }
        token = try RemoteEndpoint(login, path: "/{}/oauth2/v2.0/token", method: .POST)
        principal = try at("/servicePrincipals(appId='{}')", .GET)
        grants = try at("/oauth2PermissionGrants", .GET)
        grant = try at("/oauth2PermissionGrants/{}", .DELETE)
        assignments = try at("/users/{}/appRoleAssignments", .GET)
        assignment = try at("/servicePrincipals/{}/appRoleAssignedTo/{}", .DELETE)
        sessions = try at("/users/{}/revokeSignInSessions", .POST)
    }

    /// The token endpoint of a tenant, as the audience of an assertion.
    func tokenURL(of tenant: String) -> String { "\(login.text)/\(tenant)/oauth2/v2.0/token" }
}
