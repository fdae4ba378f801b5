import Encoding
import Lifecycle
import Testing

@testable import Messages

struct MailMessageTests {
    private static let request = RequestID(TimeOrderedID(high: 0x0190_0000_0000_7000, low: 1 << 63))
    private static let time = WallTime(unixMilliseconds: 1_800_000_000_000)

    private func mail(subject: String, text: String) throws -> String {
        let mail = MailMessage(
            from: try #require(MailAddress("privacy@example.com")),
            to: [try #require(MailAddress("ann@example.com"))],
            subject: subject,
            text: text,
            id: MessageID(sequence: 7, nonce: "0123456789abcdef"),
            date: Self.time
        )
        return String(decoding: mail.bytes, as: UTF8.self)
    }

    @Test(arguments: [
        "plain", "Ihr Konto wurde gelöscht", "a\r\nBcc: eve@example.com", "=?utf-8?B?eA==?=",
        String(repeating: "ü👩‍👩‍👧", count: 60), "",
    ])
    func `nothing in a subject or text can add a field or a recipient`(_ text: String) throws {
        let mail = try mail(subject: text, text: text)
        let halves = mail.split(separator: "\r\n\r\n", maxSplits: 1)
        let fields = halves[0].replacing("\r\n ", with: " ").split(separator: "\r\n")
        #expect(
            fields.map { $0.prefix { $0 != ":" } } == [
                "From", "To", "Subject", "Date", "Message-ID", "Auto-Submitted", "MIME-Version",
                "Content-Language", "Content-Type", "Content-Transfer-Encoding",
            ]
        )
        #expect(mail.utf8.allSatisfy { (0x20...0x7e).contains($0) || $0 == 0x0d || $0 == 0x0a })
        let lines = mail.split(separator: "\r\n", omittingEmptySubsequences: false)
        #expect(lines.allSatisfy { $0.utf8.count <= 78 && !$0.contains("\n") })
        let body = halves.count > 1 ? halves[1].replacing("\r\n", with: "") : ""
        #expect(Base64.decode(Array(body.utf8)).map { String(decoding: $0, as: UTF8.self) } == text)
    }

    @Test func `a date has the form of RFC 5322`() {
        #expect(MailMessage.date(Self.time) == "15 Jan 2027 08:00:00 +0000")
    }

    @Test(arguments: MessageLanguage.allCases)
    func `a confirmation says what the receipt says`(_ language: MessageLanguage) {
        var facts = MailText.Confirmation(request: Self.request, completedAt: Self.time)
        facts.revoked = ["apple"]
        facts.open = ["x"]
        facts.controller = "Example Apps GmbH"
        facts.contact = "privacy@example.com"
        let (subject, text) = MailText.confirmation(facts, in: language)
        #expect(!subject.isEmpty)
        for part in ["- apple", "- x", "Example Apps GmbH", "2027-01-15 08:00 UTC"] {
            #expect(text.contains(part), "\(language): \(part)")
        }
        #expect(text.contains(Self.request.description))
        #expect(!text.contains("{"))
        let others = MessageLanguage.allCases.filter { $0 != language }
        #expect(others.allSatisfy { MailText.confirmation(facts, in: $0).text != text })
    }

    @Test func `each text of a confirmation is there in every language`() {
        let texts = MailText.confirmations
        #expect(texts.count == 8)
        for (name, text) in texts {
            #expect(Set(text.keys) == Set(MessageLanguage.allCases), "\(name)")
        }
    }

    @Test func `a line that is a dot alone does not end the mail early`() {
        let stuffed = SMTPDialog.stuffed(Array(".\r\na\r\n..b\r\n.\r\n".utf8))
        #expect(String(decoding: stuffed, as: UTF8.self) == "..\r\na\r\n...b\r\n..\r\n")
    }

    @Test(arguments: [
        (["220 ready", "250-host\r\n250 ok", "250", "250", "354", "250"], SendResult.delivered),
        (["220", "250", "250", "251 forwards", "354", "250"], .delivered),
        (["554 busy"], SendResult(failure: .refused)),
        (["220", "250", "550 sender"], SendResult(failure: .refused)),
        (["220", "250", "250", "550 nobody"], SendResult(failure: .rejected)),
        (["220", "250", "250", "451 later"], SendResult(failure: .refused)),
        (["220", "250", "250", "250", "554 no"], SendResult(failure: .refused)),
        (["220", "250", "250", "250", "354", "552 too large"], SendResult(failure: .rejected)),
        (["220", "250", "250", "250", "354", "451 later"], SendResult(failure: .refused)),
        (["what is this"], SendResult(failure: .refused)),
    ])
    func `a dialog ends as the server's replies say`(
        _ replies: [String],
        _ end: SendResult
    )
        throws
    {
        let address = try #require(MailAddress("ann@example.com"))
        let mail = MailMessage(
            from: address,
            to: [address],
            subject: "s",
            text: "t",
            id: MessageID(sequence: 7, nonce: "0123456789abcdef"),
            date: Self.time
        )
        var dialog = SMTPDialog(mail)
        var moves: [SMTPDialog.Move] = []
        // Byte by byte: a reply comes in pieces.
        for byte in Array((replies.joined(separator: "\r\n") + "\r\n").utf8) {
            moves += dialog.receive([byte])
        }
        #expect(moves.last == .end(end))
        let sent = moves.compactMap { move -> String? in
            guard case .send(let bytes) = move else { return nil }
            return String(String(decoding: bytes, as: UTF8.self).prefix(4))
        }
        let all = ["EHLO", "MAIL", "RCPT", "DATA", "From", "QUIT"]
        #expect(sent == Array(all.prefix(sent.count)))
        #expect(end != .delivered || sent == all)
    }

    @Test(
        arguments: [
            (["250", "550 left", "354", "250"], nil, [1]),
            (["550 left", "250", "354", "250"], nil, [0]),
            (["250", "250", "354", "250"], nil, []),
            (["550 left", "551 left"], .rejected, []),
            (["250", "451 later"], .refused, []),
            (["550 left", "451 later"], .refused, []),
        ] as [([String], MessageFailure?, [Int])]
    )
    func `a recipient that is refused for good keeps no mail from the others, and is told`(
        _ replies: [String],
        _ failure: MessageFailure?,
        _ refused: [Int]
    ) throws {
        var end = SendResult(failure: failure)
        end.refusedRecipients = refused
        let mail = MailMessage(
            from: try #require(MailAddress("privacy@example.com")),
            to: [
                try #require(MailAddress("ops@example.com")),
                try #require(MailAddress("left@example.com")),
            ],
            subject: "s",
            text: "t",
            id: MessageID(sequence: 7, nonce: "0123456789abcdef"),
            date: Self.time
        )
        var dialog = SMTPDialog(mail)
        let lines = (["220", "250", "250"] + replies).map { "\($0)\r\n" }.joined()
        let moves = dialog.receive(Array(lines.utf8))
        #expect(moves.last == .end(end))
        let sent = moves.compactMap { move -> String? in
            guard case .send(let bytes) = move else { return nil }
            return String(String(decoding: bytes, as: UTF8.self).prefix(4))
        }
        let all = ["EHLO", "MAIL", "RCPT", "RCPT", "DATA", "From", "QUIT"]
        #expect(sent == (failure == nil ? all : Array(all.prefix(4))))
    }

    @Test func `a server that never ends a reply is left`() throws {
        let address = try #require(MailAddress("ann@example.com"))
        let mail = MailMessage(
            from: address,
            to: [address],
            subject: "s",
            text: "t",
            id: MessageID(sequence: 7, nonce: "0123456789abcdef"),
            date: Self.time
        )
        var endless = SMTPDialog(mail)
        let line = Array("220-more and more\r\n".utf8)
        var moves: [SMTPDialog.Move] = []
        for _ in 0..<2000 where moves.isEmpty { moves = endless.receive(line) }
        #expect(moves == [.end(SendResult(failure: .refused))])
    }

    @Test func `a message names a request and nothing of its user`() throws {
        let message = OutgoingMessage(
            id: MessageID(sequence: 7, nonce: "0123456789abcdef"),
            topic: .request,
            kind: "delete_account",
            subject: "parked",
            detail: "on_hold",
            request: Self.request,
            occurredAt: Self.time
        )
        let text = String(decoding: MessageBody.bytes(of: message), as: UTF8.self)
        #expect(
            text == """
                {"type":"request.parked","timestamp":"\(Self.time.rfc3339)","data":\
                {"request_id":"\(Self.request)","kind":"delete_account","state":"parked",\
                "reason":"on_hold","sequence":7}}
                """
        )
    }

    @Test(arguments: [
        (MessageFailure.rejected, true), (.addressLost, true), (.refused, false), (.lost, false),
    ])
    func `only what no other attempt can mend is final`(_ failure: MessageFailure, _ isFinal: Bool)
    {
        #expect(failure.isFinal == isFinal)
    }

    @Test(arguments: [
        "", "msg_", "msg_0_0123456789abcdef", "msg_7_0123456789ABCDEF", "msg_07_0123456789abcdef",
        "msg_7_0123", "x_7_0123456789abcdef", "msg_7_0123456789abcdef_", "msg_-7_0123456789abcdef",
    ])
    func `an id of a message has one form`(_ text: String) {
        #expect(MessageID(text) == nil)
    }
}
