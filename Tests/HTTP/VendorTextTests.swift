import Testing

@testable import HTTP

@Suite("what is kept of a vendor's text")
struct VendorTextTests {
    @Test(
        "words of the language stay, and nothing that may be personal or secret",
        arguments: [
            ("Token has been expired or revoked.", "Token has been expired or revoked."),
            ("Bad credentials", "Bad credentials"),
            ("The user hasn't signed in.", "The user hasn't signed in."),
            ("(#10) Application has no permission", "(#10) Application has no permission"),
            ("GraphMethodException came", "GraphMethodException came"),
            ("Invalid refresh_token value", "Invalid refresh_token value"),
            // Addresses
            ("Unknown user bob@example.com here", "Unknown user … here"),
            ("Unknown user иван@пример.рф here", "Unknown user … here"),
            ("Unknown user 用户＠例子.公司 here", "Unknown user … here"),
            ("Unknown user bob @ example.com here", "Unknown user … here"),
            // Quotes
            ("The code 'abc def' was used", "The code … was used"),
            (#"The code "abc def" was used"#, "The code … was used"),
            ("The code `x y` was used", "The code … was used"),
            ("The code ‘O’Brien’ was „x“ used", "The code … was … used"),
            ("The name «Jean Dupont» is bad", "The name … is bad"),
            ("The name 「山田」 is bad", "The name … is bad"),
            ("code='abc' was used", "… was used"),
            ("user'O'Brien' is unknown", "user… is unknown"),
            ("The name 'Jean is never closed", "The name …"),
            // Tokens, hashes and keys
            ("The token a1b2c3d4e5 is bad", "The token … is bad"),
            ("bad ya29.a0AfH6SMBx-yz_abcdefghijklm token", "bad … token"),
            ("id 0f8fad5b-d9cb-469f-a165-70867728950e is bad", "id … is bad"),
            ("hash deadbeefcafe is bad", "hash … is bad"),
            ("bad QWxhZGRpbjpvcGVuIHNlc2FtZQ== value", "bad … value"),
            ("bad YWJj== value", "bad … value"),
            ("aVeryLongCamelCaseNameOfSomething is bad", "… is bad"),
            ("%D0%B1%D0%BE%D0%B1 is unknown", "… is unknown"),
            // Numbers
            ("card 4111 1111 1111 1111 is bad", "card … is bad"),
            ("card 4111-1111-1111-1111 is bad", "card … is bad"),
            ("call +49 (170) 123-45-67 now", "call … now"),
            ("number 123456 is bad", "number … is bad"),
            ("number ١٢٣٤٥٦٧ is bad", "number … is bad"),
            ("number 12345 is fine", "number 12345 is fine"),
            ("from 192.168.100.17 refused", "from … refused"),
            ("User jsmith19840512 is locked", "User … is locked"),
            ("token 123456secretabcdefghijkl is bad", "token … is bad"),
            ("client 10.0.0.1 refused", "client … refused"),
            // Names and their values
            ("locked for user : admin. cannot login", "locked for user : … cannot login"),
            ("login: jsmith is unknown", "login: … is unknown"),
            (
                "Could not find user with username: [johndoe].",
                "Could not find user with username: …"
            ),
            ("Account jane(at)web.de is locked", "Account … is locked"),
            // Addresses of the web, and names with values
            (
                "see https://login.example.com/bob?code=abc now",
                "see https://login.example.com/… now"
            ),
            ("see example.com/?user=bob now", "see … now"),
            ("see https://bob:pw@example.com/ now", "see … now"),
            ("sub=bob is unknown", "sub=… is unknown"),
            ("sub:bob is unknown", "sub:… is unknown"),
            // What is not seen
            ("a\u{0}b\u{200b}c line\nnext", "a bc line next"),
        ] as [(String, String)]
    )
    func redacts(_ text: String, _ kept: String) {
        #expect(VendorText(text, sent: []).redacted == kept)
    }

    @Test(
        "the code of the error stays, and what only looks like one goes",
        arguments: [
            ("invalid_grant/AADSTS700082", "AADSTS700082: The token has expired. Timestamp: …"),
            ("AADSTS700082", "AADSTS700082: The token has expired. Timestamp: …"),
            ("invalid_grant/AADSTS50173", "… The token has expired. Timestamp: …"),
            (nil, "… The token has expired. Timestamp: …"),
        ] as [(String?, String)]
    )
    func code(_ code: String?, _ kept: String) {
        let text = "AADSTS700082: The token has expired. Timestamp: 2026-11-30 06:36:35Z"
        #expect(VendorText(text, sent: [], code: code).redacted == kept)
    }

    @Test(
        "what was sent goes, also as a part of a word or in part",
        arguments: [
            ("The user BOB is unknown", "bob", "The user … is unknown"),
            ("The user bob_1 is unknown", "bob", "The user … is unknown"),
            ("The bobsled is fine", "bob", "The bobsled is fine"),
            ("The value prehunterpost is bad", "hunter", "The value … is bad"),
            ("No secret swordfish here", "my-swordfish-key", "No secret … here"),
            ("The to\u{200b}ken-x is bad", "token-x", "The … is bad"),
            ("Open sesame now is bad", "open sesame now", "… is bad"),
        ] as [(String, String, String)]
    )
    func sent(_ text: String, _ value: String, _ kept: String) {
        #expect(VendorText(text, sent: [value]).redacted == kept)
    }

    @Test("a text is cut behind the redaction, at 200 characters")
    func cut() throws {
        let secret = String(repeating: "aB3", count: 20)
        for count in 30...42 {
            let text = String(repeating: "word ", count: count) + secret
            let kept = try #require(VendorText(text, sent: []).redacted)
            #expect(kept.count <= 200 && !kept.contains("aB3"), "\(kept)")
        }
        #expect(VendorText(String(repeating: "é ", count: 150), sent: []).redacted?.count == 200)
    }

    @Test(
        "a text of which no word is left, or that is none for people, is none",
        arguments: ["", "…", "4111111111111111", "'alice'", String(repeating: "word ", count: 900)]
    )
    func nothing(_ text: String) { #expect(VendorText(text, sent: []).redacted == nil) }
}
