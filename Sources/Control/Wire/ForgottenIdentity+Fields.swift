package import Lifecycle

extension ForgottenIdentity: WireObject {
    package static let schemaName = "Forgotten"
    package static let fields: [WireField] = [
        .required("provider", .text, "The provider's configured name."),
        .required("at", .time, "When."),
        .required("uid", .integer, "The operator's uid."),
    ]
}
