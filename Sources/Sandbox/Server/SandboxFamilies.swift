/// One family of every provider.
struct SandboxFamilies: Sendable {
    let apple: AppleFamily
    let oauth2: OAuth2Family
    let google: GoogleFamily
    let facebook: FacebookFamily
    let microsoft: MicrosoftFamily
    let github: GitHubFamily
    let x: XFamily
    let cloud: CloudFamily

    init(_ configuration: SandboxConfiguration, _ tools: FamilyTools) throws(SandboxError) {
        apple = try AppleFamily(configuration.apple, tools)
        oauth2 = try OAuth2Family(configuration.oauth2, tools)
        google = try GoogleFamily(configuration.google, tools)
        facebook = try FacebookFamily(configuration.facebook, tools)
        microsoft = try MicrosoftFamily(configuration.microsoft, tools)
        github = try GitHubFamily(configuration.github, tools)
        x = try XFamily(configuration.x, tools)
        cloud = CloudFamily(configuration.cloud, tools)
    }

    var all: [any ProviderFamily] { providers + [cloud] }

    var providers: [any GrantFamily] { [apple, oauth2, google, facebook, microsoft, github, x] }

    func family(_ provider: SandboxProvider) -> any GrantFamily {
        switch provider {
        case .apple: apple
        case .oauth2: oauth2
        case .google: google
        case .facebook: facebook
        case .microsoft: microsoft
        case .github: github
        case .x: x
        }
    }

    func route(
        method: String,
        path: String
    ) -> (family: any ProviderFamily, endpoint: SandboxEndpoint)? {
        for family in all {
            if let endpoint = family.endpoint(method: method, path: path) {
                return (family, endpoint)
            }
        }
        return nil
    }
}
