struct SandboxFamilies: Sendable {
    let apple: AppleFamily
    let cloud: CloudFamily
    let providers: [any GrantFamily]

    init(_ configuration: SandboxConfiguration, _ tools: FamilyTools) throws(SandboxError) {
        apple = try AppleFamily(configuration.apple, tools)
        cloud = CloudFamily(configuration.cloud, tools)
        providers = [
            apple, try OAuth2Family(configuration.oauth2, tools),
            try GoogleFamily(configuration.google, tools),
            try FacebookFamily(configuration.facebook, tools),
            try MicrosoftFamily(configuration.microsoft, tools),
            try GitHubFamily(configuration.github, tools), try XFamily(configuration.x, tools),
        ]
    }

    func family(_ provider: SandboxProvider) -> any GrantFamily {
        guard let family = providers.first(where: { $0.name == provider.rawValue }) else {
            preconditionFailure("every provider has a family")
        }
        return family
    }

    func route(
        method: String,
        path: String
    ) -> (family: any ProviderFamily, endpoint: SandboxEndpoint)? {
        let families: [any ProviderFamily] = providers + [cloud]
        for family in families {
            if let endpoint = family.endpoint(method: method, path: path) {
                return (family, endpoint)
            }
        }
        return nil
    }
}
