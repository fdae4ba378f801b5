import Encoding
import Engine
import Lifecycle
import Testing

@testable import HTTP

/// Signs with what it was told, so that the bytes around the signature can be looked at.
private struct FixedSigner: MessageSigner {
    let algorithm = SigningAlgorithm.rs256

    func sign(_ message: [UInt8]) throws(VaultError) -> [UInt8] {
        [UInt8(truncatingIfNeeded: message.count), 0xff]
    }
}

@Suite("compact tokens")
struct CompactTokenTests {
    @Test("a token is header, claims and signature, and the first two are what was signed")
    func parts() throws {
        var claims = JSONBody()
        claims.add("iss", "machine")
        let token = try CompactToken.sign(claims, header: [("kid", "k1")], by: FixedSigner())
        let parts = token.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        #expect(parts.count == 3)
        let header = try #require(Base64URL.decode(parts[0]))
        #expect(
            String(decoding: header, as: UTF8.self) == #"{"alg":"RS256","typ":"JWT","kid":"k1"}"#
        )
        #expect(Base64URL.decode(parts[1]) == Array(#"{"iss":"machine"}"#.utf8))
        let signed = parts[0].count + 1 + parts[1].count
        #expect(Base64URL.decode(parts[2]) == [UInt8(truncatingIfNeeded: signed), 0xff])
    }

    @Test("set-up errors say whose connection it is")
    func errors() {
        let error = SetupError(kind: .plainHTTP, owner: .store(StoreName("uploads")))
        #expect(
            error.description == "cannot set up store at 'uploads' (plain_http): plain http needs"
                + " allow_plain_http and a server on this machine"
        )
    }
}
