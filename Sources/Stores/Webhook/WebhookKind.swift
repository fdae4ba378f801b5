import Engine
import HTTP
import Lifecycle
package import Settings

/// A service of the operator's own that deals with some other store.
package struct WebhookKind: DelegatedKind {
    package static let name = "webhook"
    package static let summary = "a service of your own"
    package static let traits = StoreTraits()

    package static let settings: [Setting] = [
        Setting(
            .store,
            "url",
            .text(.url),
            .required(example: .text("https://crm.example.com/erasure")),
            "Address of your service."
        ),
        .messageKey(.store, example: "crm-webhook-secret").outsidePlans(),
        .caFile(.store, example: "/etc/expunged/crm-ca.pem").outsidePlans(),
        .privateAddresses(.store).outsidePlans(),
        .callTimeout,
    ]

    package let url: String
    package let secretCredential: String
    /// `nil` for the system's authorities.
    package let caFile: String?
    package let allowsPrivateAddresses: Bool
    package let timeout: Duration
    var copy: String?

    package init(_ section: inout SettingsSection, _ problems: inout SectionProblems) {
        problems.refuseTables("the service knows its store; it has no tables here")
        url = section.requiredText("url")
        if let url = EndpointURL(url), !url.isEncrypted {
            problems.report(.malformed, "url", "user ids travel over https only")
        }
        secretCredential = section.requiredText("secret_credential")
        caFile = section.text("ca_file")
        allowsPrivateAddresses = section.flag("allow_private_addresses")
        timeout = section.duration("timeout")
    }

    package func open(_ environment: StoreEnvironment) throws -> DelegatedStore {
        guard let signature = WebhookSignature(try environment.line(secretCredential)) else {
            throw StoreSetupError(
                environment.name,
                "credential '\(secretCredential)' must be 24 to 64 bytes in base64"
            )
        }
        var settings = RemoteSettings(owner: environment.owner, caFile: caFile)
        settings.allowsPrivateAddresses = allowsPrivateAddresses
        settings.timeoutTotal = timeout
        let adapters = environment.adapters
        return DelegatedStore(
            name: environment.name,
            delegate: try WebhookDelegate(
                url: url,
                settings,
                signature: signature,
                on: adapters.eventLoop(of: environment.owner),
                now: adapters.now,
                logger: adapters.logger
            ),
            clock: environment.clock,
            copy: copy
        )
    }
}
