/// How the sandbox plays X.
package struct XConfiguration: Sendable {
    /// The applications at the start; the id of the third is the consumer key of OAuth 1.0a.
    package var clients: [ClientRegistration] = [
        ClientRegistration("x-client", secret: "x-secret"), ClientRegistration("x-public"),
        ClientRegistration("x-consumer", secret: "x-consumer-secret"),
    ]
    /// Whether a revoke of an unknown or dead token is refused; X does not document it.
    package var refusesUnknownTokens = false

    package init() {}
}
