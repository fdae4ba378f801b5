/// What a provider may honor of one identity although the service does not hold it.
package struct WireUnheld: WireObject, Codable, Hashable {
    package var lostCodes: Int
    package var refusedCredentials: Int

    package init(lostCodes: Int, refusedCredentials: Int) {
        (self.lostCodes, self.refusedCredentials) = (lostCodes, refusedCredentials)
    }

    package static let fields: [WireField] = [
        .required("lost_codes", .integer, "Codes that were sent, and may have brought tokens."),
        .required("refused_credentials", .integer, "How often a credential was refused."),
    ]
}
