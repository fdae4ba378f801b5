package import Lifecycle

extension ForgottenIdentity: WireRecord {
    package static let schemaName = "Forgotten"
    package static let members: [WireMember<ForgottenIdentity>] = [
        .required("provider", \.provider, "The provider's configured name."),
        .required("at", \.at, "When."),
        .required("uid", \.uid, "The operator's uid."),
    ]
}
