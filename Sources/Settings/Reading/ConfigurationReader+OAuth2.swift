extension ConfigurationReader {
    /// What only `kind = "oauth2"` has.
    mutating func oauth2(
        _ section: SettingsSection,
        at place: SectionPlace
    ) -> OAuth2ProviderConfiguration {
        if section.text("issuer") == nil && section.text("revocation_url") == nil {
            log.report(
                .missingKey,
                "issuer",
                in: place,
                "give issuer, which names the endpoints, or revocation_url"
            )
        }
        return OAuth2ProviderConfiguration(
            issuer: section.text("issuer"),
            revocationURL: section.text("revocation_url"),
            introspectionURL: section.text("introspection_url"),
            tokenURL: section.text("token_url"),
            clientSecretCredential: section.text("client_secret_credential"),
            clientAuthentication: section.choice("client_authentication") ?? .basic
        )
    }
}
