package import Engine
import HTTP
import Lifecycle

extension OAuth2Provider {
    /// Connects to every endpoint that would be asked, then asks for what is wrong there.
    package func problem() async -> ProviderProblem? {
        if let problem = await problemOfHosts() { return problem }
        return await problemOfAnswers()
    }

    private func problemOfHosts() async -> ProviderProblem? {
        if profile.hasNoRevocationAPI { return nil }
        var asked: [(EndpointBook.Role, String, String)] = [
            (.token, "token", "token_url"), (.revocation, "revocation", "revocation_url"),
        ]
        if check == .introspection {
            asked.append((.introspection, "introspection", "introspection_url"))
        }
        if issuesIDTokens { asked.append((.keys, "key", "jwks_url")) }
        if profile.revocation.bearer == .clientToken {
            asked.append((.clientToken, "client token", "base_url"))
        }
        var found: [String] = []
        for (role, name, setting) in asked {
            guard case .found(let endpoint) = await endpoints.find(role),
                let reason = await http.connectionFailure(endpoint)
            else { continue }
            found.append("the \(name) endpoint \(endpoint.url): \(reason); check \(setting)")
        }
        if let admin, let reason = await http.connectionFailure(admin.lists[0].endpoint) {
            found.append("the admin API \(admin.url): \(reason); check admin_url")
        }
        return found.isEmpty
            ? nil : ProviderProblem(.unreachable, found.joined(separator: ". "))
    }

    /// Asks, per client, about a code that cannot exist, and once about such a token.
    ///
    /// `invalid_client` shows a wrong client; `invalid_grant` shows that it is right. A provider
    /// without a token endpoint has nothing harmless to be asked.
    func problemOfAnswers() async -> ProviderProblem? {
        if profile.hasNoRevocationAPI { return nil }
        switch await endpoints.find(.revocation) {
        case .found: break
        case .absent:
            return ProviderProblem(
                .misconfigured,
                "no revocation endpoint is known: set revocation_url, or check that the metadata of"
                    + " the issuer names one on a host that may be used (endpoint_hosts)"
            )
        case .unavailable:
            return ProviderProblem(
                .unreachable,
                "the metadata of the issuer cannot be read: check issuer, or set revocation_url"
            )
        }
        if let problem = await problemOfToken() { return problem }
        if let problem = await problemOfRevocation() { return problem }
        return await problemOfGrants()
    }

    private func problemOfToken() async -> ProviderProblem? {
        guard case .found(let endpoint) = await endpoints.find(.token) else { return nil }
        let place = "the token endpoint \(endpoint.url)"
        for clientID in clients.keys.sorted() {
            let reading = await probe(clientID)
            if let refusal = reading.refusal, refusal.isForeign {
                return .refusesAll(refusal.refusal, place, "token_url")
            }
            switch reading.meaning {
            // Servers may look at the request before they look at the client, and refuse a wrong
            // code in their own way: 403, or 400 without a body.
            case .refused, .unclear, .failure(.rejected): continue
            case .honoured:
                return ProviderProblem(
                    .unusable,
                    "\(place) gave out tokens for a made-up code: check token_url"
                )
            case .failure(.misconfigured):
                let answer = reading.refusal.map { ": \($0.refusal.text)" } ?? ""
                let client = clients.count > 1 ? clientID : nil
                return ProviderProblem(
                    reading.problemOfMadeUp(of: client) ?? .misconfigured,
                    "\(place) refused the client id '\(clientID)'\(answer); check client_ids,"
                        + " client_secret_credential and client_authentication",
                    naming: reading.refusal?.refusal
                )
            case .failure(.unreachable): return .noTLS(place)
            case .failure(let failure): return ProviderProblem(failure, place)
            }
        }
        return nil
    }

    /// A revocation endpoint answers something about every token (RFC 7009 §2.2); only outages and
    /// what no endpoint answers count here.
    private func problemOfRevocation() async -> ProviderProblem? {
        let call = profile.revocation
        guard case .found(let endpoint) = await endpoints.find(.revocation),
            let clientID = clients.keys.min(),
            let kind = [CredentialKind.refreshToken, .accessToken].first(where: {
                call.kinds.contains($0)
            })
        else { return nil }
        let place = "the revocation endpoint \(endpoint.url)"
        let reading = await control(kind, clientID, call)
        if let refusal = reading.refusal {
            guard refusal.isForeign else { return nil }
            return .refusesAll(refusal.refusal, place, "revocation_url")
        }
        guard case .failure(let failure) = reading.meaning else { return nil }
        switch failure {
        case .unreachable: return .noTLS(place)
        // A success of another kind, or an error with status 200.
        case .unusable where reading.isVague || reading.json != nil: return nil
        case .unusable, .lost, .throttled:
            return ProviderProblem(failure, "\(place) gave no usable answer about a made-up token")
        case .rejected, .refused, .refusesAll, .misconfigured, .notConfigured, .sealBroken,
            .vaultSealed, .keys, .blocked:
            return nil
        }
    }
}

extension ProviderProblem {
    /// The host takes connections, and no call gets through.
    fileprivate static func noTLS(_ place: String) -> ProviderProblem {
        ProviderProblem(
            .unreachable,
            "\(place): no TLS connection comes about; check the certificate of the host and ca_file"
        )
    }

    fileprivate static func refusesAll(
        _ answer: Refusal,
        _ place: String,
        _ setting: String
    ) -> ProviderProblem {
        ProviderProblem(
            .refusesAll(answer),
            "\(place) refuses whatever it is asked (\(answer.text)); check \(setting), base_url or"
                + " issuer, what stands between, and the status page of the provider"
        )
    }
}
