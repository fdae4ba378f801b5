/// What a provider may honor of one identity although the service does not hold it.
package struct WireUnheld: WireRecord, Codable, Hashable {
    package var lostCodes: Int
    package var refusedCredentials: Int

    package init(lostCodes: Int, refusedCredentials: Int) {
        (self.lostCodes, self.refusedCredentials) = (lostCodes, refusedCredentials)
    }

    package static let members: [WireMember<WireUnheld>] = [
        .required("lost_codes", \.lostCodes, "Codes that were sent, and may have brought tokens."),
        .required(
            "refused_credentials",
            \.refusedCredentials,
            "How often a credential was refused."
        ),
    ]
}
