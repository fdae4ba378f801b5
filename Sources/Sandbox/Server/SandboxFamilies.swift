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
        apple = AppleFamily(configuration: configuration.apple, tools)
        oauth2 = try OAuth2Family(configuration.oauth2, tools)
        google = try GoogleFamily(configuration.google, tools)
        facebook = try FacebookFamily(configuration.facebook, tools)
        microsoft = try MicrosoftFamily(configuration.microsoft, tools)
        github = try GitHubFamily(configuration.github, tools)
        x = try XFamily(configuration.x, tools)
        cloud = CloudFamily(configuration.cloud, tools)
    }

    var all: [any ProviderFamily] { [apple] + others + [cloud] }

    /// The families that share their commands: all but Apple, which has its own.
    var others: [any GrantFamily] { [oauth2, google, facebook, microsoft, github, x] }

    /// The commands of a family.
    func commands(of provider: SandboxProvider) throws(SandboxError) -> any FamilyCommands {
        guard let family = others.first(where: { $0.name == provider.rawValue }) else {
            throw SandboxError(.badRequest, cannot: "command family", at: provider.rawValue)
        }
        return family
    }
}
