/// The configured name of a subscriber, such as `app`; ``mail`` is that of the section `[mail]`.
package struct SubscriberName: Hashable, Sendable, Comparable, TextCodable {
    package static let mail = SubscriberName("mail")

    package let rawValue: String

    package init(_ rawValue: String) { self.rawValue = rawValue }

    package var description: String { rawValue }

    package static func < (left: SubscriberName, right: SubscriberName) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// Names one message for good, also in a copy of `state.db`: `msg_12_0123456789abcdef`.
package struct MessageID: Hashable, Sendable, TextCodable {
    package let sequence: Int64
    /// 16 hexadecimal digits in lower case.
    package let nonce: String

    package init(sequence: Int64, nonce: String) { (self.sequence, self.nonce) = (sequence, nonce) }

    package init?(_ text: String) {
        let parts = text.split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "msg", let sequence = Int64(parts[1]), sequence > 0,
            parts[2].utf8.count == 16,
            parts[2].allSatisfy({ $0.isHexDigit && !$0.isUppercase })
        else { return nil }
        self.init(sequence: sequence, nonce: String(parts[2]))
        guard description == text else { return nil }
    }

    package var description: String { "msg_\(sequence)_\(nonce)" }
}

/// What a message says, and its id.
package struct OutgoingMessage: Hashable, Sendable {
    package let id: MessageID
    package let topic: MessageTopic
    /// Of the request; the severity of an alarm.
    package let kind: String
    /// The state of the request; the event of an alarm.
    package let subject: String
    /// The reason of the state; the sentence of an alarm.
    package let detail: String?
    package let request: RequestID?
    package let occurredAt: WallTime

    /// Such as `request.completed`.
    package var type: String { "\(topic.rawValue).\(subject)" }

    package init(
        id: MessageID,
        topic: MessageTopic,
        kind: String,
        subject: String,
        detail: String?,
        request: RequestID?,
        occurredAt: WallTime
    ) {
        self.id = id
        self.topic = topic
        self.kind = kind
        self.subject = subject
        self.detail = detail
        self.request = request
        self.occurredAt = occurredAt
    }
}

/// What a message is about.
package enum MessageTopic: String, Sendable, CaseIterable {
    /// A request has another state.
    case request
    /// A journal entry from warning up.
    case alarm
    /// A user's data was erased; for the user.
    case confirmation
}

/// The languages of confirmations and of printed receipts.
package enum MessageLanguage: String, Sendable, CaseIterable {
    case english = "en"
    case german = "de"
    case french = "fr"
    case spanish = "es"
    case italian = "it"

    /// The texts of a file, by their names and languages.
    ///
    /// `[NAME]` stands above the texts, each begins with the tag of its language, and a line that
    /// begins with blanks goes on with the text before it.
    package static func texts(in file: String) -> [String: [MessageLanguage: String]] {
        var texts: [String: [MessageLanguage: String]] = [:]
        var (name, language) = ("", MessageLanguage.english)
        for line in file.split(separator: "\n") where !line.hasPrefix("#") {
            let text = String(line.dropFirst(3))
            if line.hasPrefix("[") {
                name = String(line.dropFirst().dropLast())
            } else if let next = MessageLanguage(rawValue: String(line.prefix(2))) {
                language = next
                texts[name, default: [:]][next] = text
            } else {
                texts[name]?[language]?.append(" " + text)
            }
        }
        return texts
    }
}

/// An address for mail that every mail server takes: ASCII, no quotes, no comments, no route
/// (the dot-atom of RFC 5321 §4.1.2).
package struct MailAddress: Hashable, Sendable {
    /// RFC 5321 §4.5.3.1: a path has 256 bytes with its brackets, a local part 64.
    package static let byteCountMax = 254
    private static let localByteCountMax = 64
    /// For JSON Schema: a little more than what is accepted, since it counts no whole.
    package static let pattern = {
        let atom = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
        let label = "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
        return "(?=.{3,254}$)(?=[^@]{1,64}@)\(atom)(\\.\(atom))*@\(label)(\\.\(label))*"
    }()

    package let text: String

    /// `nil` for anything that could be more than one address, or structure of a message.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.byteCountMax, let at = bytes.lastIndex(of: UInt8(ascii: "@")),
            at <= Self.localByteCountMax
        else { return nil }
        let isLocal = Self.isDotted(bytes[..<at]) { byte in
            Self.isAlphanumeric(byte) || "!#$%&'*+-/=?^_`{|}~".utf8.contains(byte)
        }
        let domain = bytes[(at + 1)...]
        let isDomain =
            Self.isDotted(domain) { Self.isAlphanumeric($0) || $0 == UInt8(ascii: "-") }
            && domain.split(separator: UInt8(ascii: ".")).allSatisfy { label in
                label.count <= 63 && label.first != UInt8(ascii: "-")
                    && label.last != UInt8(ascii: "-")
            }
        guard isLocal, isDomain else { return nil }
        self.text = text
    }

    /// Parts that are not empty, with a dot between two.
    private static func isDotted(_ bytes: ArraySlice<UInt8>, _ isPart: (UInt8) -> Bool) -> Bool {
        bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            .allSatisfy { !$0.isEmpty && $0.allSatisfy(isPart) }
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte)
            || (0x61...0x7a).contains(byte)
    }
}

/// How a message or an attempt ended.
package enum MessageFailure: String, Sendable, CaseIterable {
    /// No connection, or no certificate for the host.
    case unreachable
    /// Handed over, and no complete answer in time.
    case lost
    /// The receiver answered with another status than 2xx, or the mail server refused for now.
    case refused
    /// A redirect; none is followed.
    case redirected
    /// A private address that the settings do not permit.
    case privateAddress = "private_address"
    /// The credential or the CA file cannot be used, or the program cannot be run.
    case misconfigured
    /// The mail server refused the address or the message for good.
    case rejected
    /// The user's address cannot be opened any more.
    case addressLost = "address_lost"

    /// Whether another attempt cannot help.
    package var isFinal: Bool { self == .rejected || self == .addressLost }
}
