import Encoding
package import Lifecycle

/// One mail as it travels (RFC 5322): seven bits, lines of at most 76 characters, CR LF.
///
/// Addresses cannot hold structure, and all else that varies is encoded, so nothing from outside
/// can add a header field or a recipient.
package struct MailMessage: Hashable, Sendable {
    package let from: MailAddress
    package let to: [MailAddress]
    package let subject: String
    package let text: String
    package let id: MessageID
    package let date: WallTime
    /// Of the text, as a language tag.
    package var language = MessageLanguage.english

    package init(
        from: MailAddress,
        to: [MailAddress],
        subject: String,
        text: String,
        id: MessageID,
        date: WallTime
    ) {
        (self.from, self.to, self.subject, self.text) = (from, to, subject, text)
        (self.id, self.date) = (id, date)
    }

    package var bytes: [UInt8] {
        let domain = from.text.split(separator: "@").last ?? "localhost"
        let fields = [
            "From: <\(from.text)>",
            "To: " + to.map { "<\($0.text)>" }.joined(separator: ",\r\n "),
            "Subject: \(Self.encodedWords(subject))",
            "Date: \(Self.date(date))",
            // The same for every attempt: a second copy can be recognized.
            "Message-ID: <\(id)@\(domain)>",
            // RFC 3834 §5: no vacation notice answers it.
            "Auto-Submitted: auto-generated",
            "MIME-Version: 1.0",
            "Content-Language: \(language.rawValue)",
            "Content-Type: text/plain; charset=utf-8",
            "Content-Transfer-Encoding: base64",
        ]
        let body = Self.lines(of: Base64.encode(Array(text.utf8)))
        return Array((fields.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
    }

    /// RFC 2045 §6.8.
    private static func lines(of encoded: [UInt8]) -> String {
        var rest = encoded[...]
        var text = ""
        while !rest.isEmpty {
            text += String(decoding: rest.prefix(76), as: UTF8.self) + "\r\n"
            rest = rest.dropFirst(76)
        }
        return text
    }

    /// RFC 2047 §2: a word has at most 75 characters; one that is split in a character would not
    /// be text.
    static func encodedWords(_ text: String) -> String {
        var words: [String] = []
        var part = ""
        for character in text {
            if part.utf8.count + String(character).utf8.count > 42 {
                words.append(part)
                part = ""
            }
            part.append(character)
        }
        words.append(part)
        return words.map { word in
            let encoded = String(decoding: Base64.encode(Array(word.utf8)), as: UTF8.self)
            return "=?utf-8?B?\(encoded)?="
        }.joined(separator: "\r\n ")
    }

    /// RFC 5322 §3.3, in UTC and without the day of the week.
    static func date(_ time: WallTime) -> String { "\(time.internetDate) +0000" }
}
