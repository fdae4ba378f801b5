import Engine
import Providers
import Settings

extension ProviderFactory {
    /// Work accounts and personal accounts.
    func makeMicrosoft(
        _ provider: ProviderConfiguration,
        _ microsoft: MicrosoftProviderConfiguration
    ) throws -> MicrosoftProvider {
        let proof: MicrosoftSettings.ClientProof =
            switch microsoft.proof {
            case .secret(let credential):
                .secret(try clientSecret(credential, of: provider))
            case .certificate(let credential, let sha256):
                .certificate(
                    thumbprint: Self.bytes(sha256),
                    signer: try signingKey(credential, .ps256, of: provider)
                )
            }
        var settings = MicrosoftSettings(
            name: provider.name,
            clientID: provider.clientIDs.first ?? "",
            tenant: microsoft.tenant,
            proof: proof
        )
        settings.graphTenants = microsoft.graphTenants
        settings.revokesSessions = microsoft.revokesSessions
        settings.http = http(provider)
        settings.loginBaseURL = microsoft.baseURL
        settings.graphBaseURL = microsoft.graphURL
        return try MicrosoftProvider(
            settings,
            eventLoopGroup: eventLoopGroup,
            now: now,
            logger: logger
        )
    }

    /// Hexadecimal digits, as the reader of the configuration let them through.
    private static func bytes(_ digits: String) -> [UInt8] {
        let values = digits.compactMap { $0.hexDigitValue.map(UInt8.init) }
        return stride(from: 0, to: values.count - 1, by: 2).map {
            values[$0] << 4 | values[$0 + 1]
        }
    }
}
