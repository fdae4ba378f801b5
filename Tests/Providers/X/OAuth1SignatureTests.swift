import Lifecycle
import Testing

@testable import HTTP
@testable import Providers

/// The worked example of "Creating a signature", developer.x.com.
@Suite("OAuth 1.0a signatures")
struct OAuth1SignatureTests {
    static let example = OAuth1Signature(
        consumerKey: "xvz1evFS4wEEPTGEFPHBog",
        consumerSecret: Secret("kAcSOqF21Fu85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw"),
        token: "370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb",
        tokenSecret: Secret("LswwdoUaIvS8ltyTt5jkRh4J50vUPVVHtR2YPi5kE"),
        nonce: "kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg",
        timestamp: 1_318_622_958
    )

    static let parameters = [
        ("status", "Hello Ladies + Gentlemen, a signed OAuth request!"),
        ("include_entities", "true"),
    ]

    @Test("the documented example is signed as documented")
    func documented() {
        let header = Self.example.header(
            method: "POST",
            url: "https://api.twitter.com/1.1/statuses/update.json",
            parameters: Self.parameters
        )
        #expect(
            header.exposeText().contains(#"oauth_signature="hCtSmYh%2BiHYCEqBWrE7C7hYmtUk%3D""#)
        )
        #expect(header.exposeText().hasPrefix(#"oauth_consumer_key="xvz1"#))
        #expect(!header.exposeText().contains("status"))
    }

    @Test("the base string encodes each part twice and sorts by encoded name")
    func baseString() {
        let text = Self.example.baseString(
            method: "POST",
            url: "https://api.twitter.com/1.1/statuses/update.json",
            parameters: Self.parameters
        )
        #expect(
            text.hasPrefix(
                "POST&https%3A%2F%2Fapi.twitter.com%2F1.1%2Fstatuses%2Fupdate.json&"
                    + "include_entities%3Dtrue%26oauth_consumer_key%3D"
            )
        )
        #expect(
            text.hasSuffix(
                "%26status%3DHello%2520Ladies%2520%252B%2520Gentlemen%252C%2520a"
                    + "%2520signed%2520OAuth%2520request%2521"
            )
        )
    }
}
