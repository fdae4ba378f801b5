import Lifecycle
import Messages
import Testing

@Suite struct MailAddressTests {
    @Test(arguments: [
        "ann@example.com", "a.b+tag@example.co.uk", "o'neil@example.com", "x@localhost",
        "user@xn--bcher-kva.example", String(repeating: "a", count: 64) + "@example.com",
    ])
    func `an address in ASCII is accepted`(_ text: String) {
        #expect(MailAddress(text)?.text == text)
    }

    @Test(arguments: [
        "", "@", "ann", "ann@", "@example.com", "ann@@example.com", "a@b@example.com",
        "ann@example.com\r\nBcc: eve@example.com", "ann@example.com\n", "ann\r@example.com",
        "ann@example.com,eve@example.com", "ann@example.com eve@example.com",
        "<ann@example.com>", "\"ann\"@example.com", "ann(x)@example.com", "ann@[127.0.0.1]",
        "änn@example.com", "ann@bücher.example", ".ann@example.com", "ann.@example.com",
        "a..b@example.com", "ann@-example.com", "ann@example-.com", "ann@example..com",
        "ann@example.com.", "ann\u{0}@example.com", "ann@example.com\u{2028}",
        String(repeating: "a", count: 65) + "@example.com",
        "ann@" + String(repeating: "a", count: 64) + ".com",
        "ann@" + String(repeating: "a.", count: 130) + "com",
        "-oQ/tmp@example.com x", "ann@example.com;id",
    ])
    func `an address that could be structure is refused`(_ text: String) {
        #expect(MailAddress(text) == nil)
    }
}
