extension ConfigurationReader {
    /// What only `kind = "microsoft"` has.
    mutating func microsoft(
        _ section: SettingsSection,
        at place: SectionPlace
    ) -> MicrosoftProviderConfiguration {
        checkSingleClient(section, at: place)
        return MicrosoftProviderConfiguration(
            tenant: section.text("tenant") ?? "",
            proof: proof(section, at: place),
            graphTenants: section.texts("graph_tenants"),
            revokesSessions: section.flag("revoke_sign_in_sessions"),
            baseURL: Self.withoutSlash(section.text("base_url") ?? ""),
            graphURL: Self.withoutSlash(section.text("graph_url") ?? "")
        )
    }

    /// A secret, or a key with its certificate; never both.
    private mutating func proof(
        _ section: SettingsSection,
        at place: SectionPlace
    ) -> MicrosoftProviderConfiguration.Proof {
        let secret = section.text("client_secret_credential")
        let key = section.text("private_key_credential")
        let sha256 = section.text("certificate_sha256")?.filter { $0 != ":" }.lowercased()
        switch (secret, key, sha256) {
        case (let secret?, nil, nil):
            return .secret(credential: secret)
        case (nil, let key?, let sha256?):
            return .certificate(keyCredential: key, sha256: sha256)
        case (nil, nil, nil):
            log.report(
                .missingKey,
                "client_secret_credential",
                in: place,
                "give it, or private_key_credential and certificate_sha256"
            )
        case (.some, _, _):
            log.report(
                .contradiction,
                "client_secret_credential",
                in: place,
                "give either it, or private_key_credential and certificate_sha256"
            )
        case (nil, .some, nil), (nil, nil, .some):
            log.report(
                .contradiction,
                key == nil ? "certificate_sha256" : "private_key_credential",
                in: place,
                "private_key_credential and certificate_sha256 belong together"
            )
        }
        return .secret(credential: "")
    }
}
