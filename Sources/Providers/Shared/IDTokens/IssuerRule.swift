/// Which `iss` an id token may have.
enum IssuerRule: Sendable {
    /// One of these, compared byte for byte (OpenID Connect Core §3.1.3.7, point 2).
    case oneOf(Set<String>)
    /// A text with `{tenantid}` in it, filled with the token's own `tid` (Microsoft's issuer of
    /// many tenants).
    case perTenant(String)

    func accepts(_ token: IDToken) -> Bool {
        guard let issuer = token.issuer else { return false }
        switch self {
        case .oneOf(let issuers): return issuers.contains(issuer)
        case .perTenant(let template):
            guard let tenant = token.text("tid"), !tenant.isEmpty else { return false }
            return issuer == template.replacing("{tenantid}", with: tenant)
        }
    }
}
