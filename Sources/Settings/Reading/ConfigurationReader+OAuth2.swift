extension ConfigurationReader {
    /// What only `kind = "oauth2"` has.
    mutating func oauth2(
        _ section: SettingsSection,
        at place: SectionPlace
    ) -> OAuth2ProviderConfiguration {
        let preset: OAuth2Preset? = section.choice("preset")
        let hasAddress = section.text("issuer") != nil || section.text("revocation_url") != nil
        if section.text("issuer") == nil, preset?.needsIssuer ?? !hasAddress {
            log.report(
                .missingKey,
                "issuer",
                in: place,
                preset == nil
                    ? "give preset, or issuer, which names the endpoints, or revocation_url"
                    : "this preset is for an issuer of your own"
            )
        }
        let secrets = clientSecrets(section, at: place)
        let method: ClientAuthentication? = section.choice("client_authentication")
        check(method, section, secrets, at: place)
        return OAuth2ProviderConfiguration(
            preset: preset,
            issuer: section.text("issuer"),
            revocationURL: section.text("revocation_url"),
            introspectionURL: section.text("introspection_url"),
            tokenURL: section.text("token_url"),
            keysURL: section.text("jwks_url"),
            endpointHosts: section.texts("endpoint_hosts"),
            secrets: secrets,
            clientAuthentication: method,
            privateKey: section.text("private_key_credential").map {
                ClientKey(
                    credential: $0,
                    algorithm: section.choice("private_key_algorithm") ?? .es256,
                    keyID: section.text("private_key_id")
                )
            },
            audience: section.choice("assertion_audience") ?? .tokenEndpoint,
            check: section.choice("check"),
            nonce: section.choice("nonce") ?? .plain,
            revokeEndsGrant: section.values["revoke_ends_grant"].map { $0 == .boolean(true) },
            rotatesRefreshTokens: section.values["rotates_refresh_tokens"].map {
                $0 == .boolean(true)
            },
            userActionURL: section.text("user_action_url")
        )
    }

    /// A method needs what it is made of.
    private mutating func check(
        _ method: ClientAuthentication?,
        _ section: SettingsSection,
        _ secrets: ClientSecrets,
        at place: SectionPlace
    ) {
        let hasKey = section.text("private_key_credential") != nil
        switch method {
        case .privateKeyJWT where !hasKey:
            log.report(
                .missingKey,
                "private_key_credential",
                in: place,
                "client_authentication \"private_key_jwt\" needs it"
            )
        case .basic, .post, .secretJWT:
            for clientID in section.texts("client_ids")
            where secrets.credential(for: clientID) == nil {
                log.report(
                    .missingKey,
                    "client_secret_credential",
                    in: place,
                    "client '\(clientID)' has no secret, and client_authentication needs one"
                )
            }
        case .privateKeyJWT, .some(.none), nil:
            if hasKey, method != .privateKeyJWT {
                log.report(
                    .contradiction,
                    "private_key_credential",
                    in: place,
                    "only client_authentication \"private_key_jwt\" uses it"
                )
            }
        }
    }
}
