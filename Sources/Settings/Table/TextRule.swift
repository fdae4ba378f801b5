import Lifecycle

/// What of a text may leave the machine in a report of a problem.
package enum SharedForm: Sendable {
    case leftOut
    case whole
    /// Of a URL: its path may be a secret.
    case schemeAndHost
    /// Of a path: who has a home directory is left out.
    case pathOutsideHomes

    func text(_ value: String) -> String? {
        switch self {
        case .leftOut: nil
        case .whole: value
        case .schemeAndHost:
            EndpointURL(value).map { url in
                url.path.isEmpty ? value : String(value.dropLast(url.path.count)) + "/..."
            }
        case .pathOutsideHomes:
            // Homes are also in /var/home, and on other disks.
            value.firstRange(of: "/home/").map { "\(value[..<$0.upperBound])..." } ?? value
        }
    }
}

/// What a text must look like.
package struct TextRule: Sendable {
    /// Unique; names the type in the documentation.
    package let title: String
    /// In words that follow "must be".
    package let requirement: String
    let shared: SharedForm
    private let check: @Sendable (String) -> Bool

    package init(
        _ title: String,
        _ requirement: String,
        shared: SharedForm = .leftOut,
        _ check: @escaping @Sendable (String) -> Bool
    ) {
        (self.title, self.requirement, self.shared) = (title, requirement, shared)
        self.check = check
    }

    package func accepts(_ text: String) -> Bool { check(text) }
}

extension TextRule: Hashable {
    package static func == (one: Self, two: Self) -> Bool { one.title == two.title }

    package func hash(into hasher: inout Hasher) { hasher.combine(title) }
}

extension TextRule {
    /// The name of a provider or store; part of journal fields, URLs and metrics.
    package static let name = TextRule(
        "name",
        "1 to 63 characters a-z, 0-9 or '-', the first a letter",
        shared: .whole
    ) { text in
        let bytes = text.utf8
        return (1...63).contains(bytes.count) && bytes.first.map(isLower) == true
            && bytes.allSatisfy { isLower($0) || isDigit($0) || $0 == 0x2d }
    }
    package static let keyReference = TextRule(
        "STORE.KEY",
        "STORE.KEY, the names of a store and of one of its [[store.key]]",
        shared: .whole
    ) { KeyReference($0) != nil }
    package static let clientID = TextRule(
        "client id",
        "1 to 255 printable ASCII characters without blanks"
    ) {
        (1...255).contains($0.utf8.count) && $0.utf8.allSatisfy { (0x21...0x7e).contains($0) }
    }
    package static let credential = TextRule(
        "credential",
        "1 to 128 characters A-Z, a-z, 0-9, '.', '_' or '-', not '.' first"
    ) { isName($0, countMax: 128, marks: [0x2d, 0x2e, 0x5f]) }
    package static let group = TextRule(
        "group",
        "the name or number of a group, 1 to 32 characters A-Z, a-z, 0-9, '_' or '-'",
        shared: .whole
    ) { isName($0, countMax: 32, marks: [0x2d, 0x5f]) }
    /// The id of a vault key, as `expunged --generate-vault-key` prints it.
    package static let vaultKeyID = TextRule(
        "vault key id",
        "16 characters 0-9 or a-f",
        shared: .whole
    ) {
        $0.utf8.count == 16 && $0.utf8.allSatisfy { isDigit($0) || (0x61...0x66).contains($0) }
    }
    package static let path = TextRule(
        "path",
        "an absolute path of at most 1024 bytes without '..'",
        shared: .pathOutsideHomes
    ) {
        $0.utf8.first == 0x2f && $0.utf8.count <= 1024 && isPrintable($0)
            && !$0.split(separator: "/").contains("..")
    }
    package static let url = TextRule(
        "URL",
        "https://HOST[:PORT][/PATH] without user, query or fragment",
        shared: .schemeAndHost
    ) { EndpointURL($0) != nil }
    package static let origin = TextRule(
        "origin",
        "https://HOST[:PORT] without user, path, query or fragment",
        shared: .whole
    ) { EndpointURL($0)?.path.isEmpty == true }
    package static let host = TextRule("host", "HOST[:PORT]", shared: .whole) {
        EndpointURL("https://\($0)")?.path.isEmpty == true && !$0.hasSuffix("/")
    }
    package static let identifier = TextRule(
        "SQL name",
        "1 to 128 characters without control characters",
        shared: .whole
    ) { (1...128).contains($0.unicodeScalars.count) && isPrintable($0) }
    package static let sentence = TextRule(
        "text",
        "1 to 200 characters without control characters"
    ) { (1...200).contains($0.unicodeScalars.count) && isPrintable($0) }
    package static let mailAddress = TextRule(
        "mail address",
        "NAME@DOMAIN in ASCII without quotes, at most 254 characters"
    ) { MailAddress($0) != nil }
    /// Mail is not encrypted on the way to the local server.
    package static let loopback = TextRule(
        "local server",
        "HOST:PORT, where HOST is localhost, 127.0.0.1 or [::1]",
        shared: .whole
    ) { text in
        ["localhost:", "127.0.0.1:", "[::1]:"].contains { host in
            text.hasPrefix(host) && UInt16(text.dropFirst(host.count)).map { $0 > 0 } ?? false
        }
    }
    package static let messageTopic = TextRule(
        "topic",
        "\"requests\" or \"alarms\"",
        shared: .whole
    ) { ["requests", "alarms"].contains($0) }
    package static let duration = TextRule(
        "duration",
        "a duration of 1s or more with its unit, such as 24h or 7d",
        shared: .whole
    ) { DurationText.parse($0).map { (.seconds(1) ... .days(3650)).contains($0) } ?? false }
}

extension TextRule {
    /// Letters, digits and `marks`, not a dot first.
    package static func isName(_ text: String, countMax: Int, marks: Set<UInt8>) -> Bool {
        (1...countMax).contains(text.utf8.count) && text.utf8.first != 0x2e
            && text.utf8.allSatisfy {
                isLower($0) || isUpper($0) || isDigit($0) || marks.contains($0)
            }
    }

    package static func namesUserOnce(_ text: String) -> Bool {
        text.split(separator: "{user_id}", omittingEmptySubsequences: false).count == 2
    }

    package static func isHexadecimal(_ byte: UInt8) -> Bool {
        isDigit(byte) || (0x61...0x66).contains(byte) || (0x41...0x46).contains(byte)
    }

    package static func isLower(_ byte: UInt8) -> Bool { (0x61...0x7a).contains(byte) }
    package static func isUpper(_ byte: UInt8) -> Bool { (0x41...0x5a).contains(byte) }
    package static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    /// No control characters or line separators, which would forge lines in a log.
    package static func isPrintable(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            scalar.value >= 0x20 && !(0x7f...0x9f).contains(scalar.value)
                && scalar.value != 0x2028 && scalar.value != 0x2029
        }
    }
}
