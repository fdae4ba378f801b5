import Encoding

/// The admin APIs of Ory Hydra and of Keycloak, as far as they list and end what a user granted.
///
/// Hydra answers alike for users that it knows and for others; Keycloak knows only those who have
/// ever signed in here.
extension OAuth2Family {
    private enum Server { case hydra, keycloak }

    func adminRoute(_ method: String, _ parts: [String]) -> FamilyRoute? {
        if parts == ["admin", "oauth2", "auth", "sessions", "consent"] {
            switch method {
            case "GET":
                return FamilyRoute(.check) { call throws(FamilyRefusal) in
                    try self.listGrants(call, of: call.query["subject"] ?? "", by: .hydra)
                }
            case "DELETE":
                return FamilyRoute(.revoke) { call throws(FamilyRefusal) in
                    guard let client = call.query["client"] else { throw .invalidRequest }
                    let user = call.query["subject"] ?? ""
                    return try self.endGrants(call, of: user, client, by: .hydra)
                }
            default: return nil
            }
        }
        guard parts.count > 5, parts.starts(with: ["admin", "realms"]), parts[3] == "users" else {
            return nil
        }
        let user = parts[4]
        switch (method, Array(parts[5...])) {
        case ("GET", ["consents"]), ("GET", ["sessions"]):
            return FamilyRoute(.check) { call throws(FamilyRefusal) in
                try self.listGrants(call, of: user, by: .keycloak)
            }
        case ("POST", ["logout"]):
            return FamilyRoute(.revoke) { call throws(FamilyRefusal) in
                try self.endGrants(call, of: user, nil, by: .keycloak)
            }
        case ("DELETE", let rest) where rest.count == 2 && rest[0] == "consents":
            return FamilyRoute(.revoke) { call throws(FamilyRefusal) in
                try self.endGrants(call, of: user, ParsedForm.decoded(rest[1]), by: .keycloak)
            }
        default: return nil
        }
    }

    private func listGrants(
        _ call: Call,
        of user: String,
        by server: Server
    ) throws(FamilyRefusal) -> Reply {
        try service.perform(call) { state, _ throws(FamilyRefusal) in
            let entries = try liveGrants(call, of: user, in: state, by: server).map {
                key -> JSONValue in
                let id = JSONValue.string(key.audience)
                switch server {
                case .hydra: return ["consent_request": ["client": ["client_id": id]]]
                case .keycloak: return ["clientId": id, "clients": ["0": id]]
                }
            }
            return (.json(.array(entries)), .checked)
        }
    }

    /// Ends the grant of one client, or of all.
    private func endGrants(
        _ call: Call,
        of user: String,
        _ client: String?,
        by server: Server
    ) throws(FamilyRefusal) -> Reply {
        try service.perform(call, status: 204) { state, _ throws(FamilyRefusal) in
            let ended = try liveGrants(call, of: user, in: state, by: server).filter {
                $0.audience == client ?? $0.audience
            }
            if ended.isEmpty, client != nil, server == .keycloak {
                throw .keycloak("Consent nor offline token not found", 404)
            }
            for key in ended { state.book.cut(key) }
            return (Reply(status: 204), ended.isEmpty ? .ignored : .revoked)
        }
    }

    private func liveGrants(
        _ call: Call,
        of user: String,
        in state: State,
        by server: Server
    ) throws(FamilyRefusal) -> [GrantBook.Key] {
        guard call.bearer == configuration.adminToken else {
            throw .keycloak("HTTP 401 Unauthorized", 401)
        }
        let known = state.book.grants.filter { $0.value.subject == user }
        if known.isEmpty, server == .keycloak { throw .keycloak("User not found", 404) }
        return known.filter(\.value.isLive).map(\.key)
    }
}

extension FamilyRefusal {
    fileprivate static func keycloak(_ error: String, _ status: Int) -> FamilyRefusal {
        FamilyRefusal(error, .json(["error": .string(error)], status: status))
    }
}
