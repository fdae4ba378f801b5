/// What a text must look like.
package enum TextRule: String, Hashable, Sendable, CaseIterable {
    /// The name of a provider or target; part of journal fields, URLs and metrics.
    case name
    /// A target and one of its keys.
    case keyReference = "TARGET.KEY"
    /// An identifier that Apple assigns to a team or a key.
    case appleID = "Apple identifier"
    /// A client id as the provider knows it.
    case clientID = "client id"
    /// The name of a systemd credential.
    case credential = "credential name"
    /// The id of a vault key, as `expunged --generate-vault-key` prints it.
    case vaultKeyID = "vault key id"
    case path = "absolute path"
    /// Where a user's files are below a root.
    case userPath = "path with {user_id}"
    /// A name of Redis in which the user id stands.
    case userKey = "name with {user_id}"
    /// A prefix or key of S3 in which the user id stands.
    case userObject = "key with {user_id}"
    case bucket = "bucket name"
    case url = "URL"
    /// A project, tenant, bucket or database of Google Cloud.
    case cloudName = "Google Cloud name"
    /// A URL without a path.
    case origin = "URL of a host"
    /// A version of a web API.
    case apiVersion = "API version"
    /// An identifier of a Microsoft directory, or a word for several.
    case tenant
    /// 128 bits in the form of RFC 9562.
    case guid = "GUID"
    /// A fingerprint in hexadecimal.
    case sha256 = "SHA-256"
    /// A host, with its port unless that is 443.
    case host
    /// The name of a table or column.
    case identifier = "SQL name"
    /// A sentence for people.
    case sentence = "text"
    /// How long, with a unit.
    case duration

    /// What is accepted, in words that follow "must be" or stand alone.
    package var requirement: String {
        switch self {
        case .name: "1 to 63 characters a-z, 0-9 or '-', the first a letter"
        case .keyReference: "TARGET.KEY, the names of a target and of one of its [[target.key]]"
        case .appleID: "10 characters A-Z or 0-9"
        case .clientID: "1 to 255 printable ASCII characters without blanks"
        case .credential: "1 to 128 characters A-Z, a-z, 0-9, '.', '_' or '-', not '.' first"
        case .vaultKeyID: "16 characters 0-9 or a-f"
        case .path: "an absolute path of at most 1024 bytes without '..'"
        case .userPath:
            "a path below the root with {user_id} once, no wildcard beside it, and no '.', '..' or"
                + " empty names"
        case .userKey:
            "1 to 512 bytes with {user_id} once, no '*' beside it, and no control characters"
        case .userObject: "1 to 1024 bytes with {user_id} once and no control characters"
        case .bucket: "3 to 63 characters a-z, 0-9, '.' or '-', the first a letter or digit"
        case .url: "https://HOST[:PORT][/PATH] without user, query or fragment"
        case .cloudName:
            "1 to 222 characters A-Z, a-z, 0-9, '.', '_', ':', '(', ')' or '-', not '.' first"
        case .origin: "https://HOST[:PORT] without user, path, query or fragment"
        case .apiVersion: "'v' and two numbers with a dot between, such as v25.0"
        case .tenant: "common, organizations, consumers, a GUID or a domain"
        case .guid: "8-4-4-4-12 characters 0-9, a-f or A-F"
        case .sha256: "64 characters 0-9, a-f or A-F; colons are left out of account"
        case .host: "HOST[:PORT]"
        case .identifier: "1 to 128 characters without control characters"
        case .sentence: "1 to 200 characters without control characters"
        case .duration: "a duration of 1s or more with its unit, such as 24h or 7d"
        }
    }

    /// Whether `text` follows the rule.
    package func accepts(_ text: String) -> Bool {
        let bytes = text.utf8
        switch self {
        case .name:
            return (1...63).contains(bytes.count) && bytes.first.map(Self.isLower) == true
                && bytes.allSatisfy { Self.isLower($0) || Self.isDigit($0) || $0 == 0x2d }
        case .keyReference:
            return KeyReference(text) != nil
        case .appleID:
            return bytes.count == 10 && bytes.allSatisfy { Self.isUpper($0) || Self.isDigit($0) }
        case .clientID:
            return (1...255).contains(bytes.count)
                && bytes.allSatisfy { (0x21...0x7e).contains($0) }
        case .credential:
            return (1...128).contains(bytes.count) && bytes.first != 0x2e
                && bytes.allSatisfy {
                    Self.isLower($0) || Self.isUpper($0) || Self.isDigit($0)
                        || [0x2d, 0x2e, 0x5f].contains($0)
                }
        case .vaultKeyID:
            return Self.isVaultKeyID(text)
        case .path:
            return bytes.first == 0x2f && bytes.count <= 1024 && Self.isPrintable(text)
                && !text.split(separator: "/").contains("..")
        case .userPath:
            return Self.isUserPath(text)
        case .userKey:
            let parts = text.split(separator: "{user_id}", omittingEmptySubsequences: false)
            return bytes.count <= 512 && Self.isPrintable(text) && parts.count == 2
                && parts[0].last != "*" && parts[1].first != "*"
        case .userObject:
            return bytes.count <= 1024 && Self.isPrintable(text)
                && text.split(separator: "{user_id}", omittingEmptySubsequences: false).count == 2
        case .bucket:
            return (3...63).contains(bytes.count)
                && bytes.first.map { Self.isLower($0) || Self.isDigit($0) } == true
                && bytes.allSatisfy {
                    Self.isLower($0) || Self.isDigit($0) || [0x2d, 0x2e].contains($0)
                }
        case .url:
            return EndpointURL(text) != nil
        case .cloudName:
            return (1...222).contains(bytes.count) && bytes.first != 0x2e
                && bytes.allSatisfy {
                    Self.isLower($0) || Self.isUpper($0) || Self.isDigit($0)
                        || [0x28, 0x29, 0x2d, 0x2e, 0x3a, 0x5f].contains($0)
                }
        case .origin:
            return EndpointURL(text)?.path.isEmpty == true
        case .apiVersion:
            let numbers = text.dropFirst().split(separator: ".", omittingEmptySubsequences: false)
            return bytes.first == 0x76 && numbers.count == 2
                && numbers.allSatisfy { UInt16($0) != nil && $0.utf8.allSatisfy(Self.isDigit) }
        case .tenant:
            return ["common", "organizations", "consumers"].contains(text) || Self.isGUID(text)
                || Self.isDomain(text)
        case .guid:
            return Self.isGUID(text)
        case .sha256:
            return Self.isFingerprint(text)
        case .host:
            return EndpointURL("https://\(text)")?.path.isEmpty == true && !text.hasSuffix("/")
        case .identifier:
            return (1...128).contains(text.unicodeScalars.count) && Self.isPrintable(text)
        case .duration:
            return Self.isDuration(text)
        case .sentence:
            return (1...200).contains(text.unicodeScalars.count) && Self.isPrintable(text)
        }
    }

    private static func isVaultKeyID(_ text: String) -> Bool {
        text.utf8.count == 16 && text.utf8.allSatisfy { isDigit($0) || (0x61...0x66).contains($0) }
    }

    private static func isFingerprint(_ text: String) -> Bool {
        let digits = text.utf8.filter { $0 != 0x3a }
        return digits.count == 64 && digits.allSatisfy(isHexadecimal)
    }

    private static func isDuration(_ text: String) -> Bool {
        DurationText.parse(text).map { (.seconds(1) ... .days(3650)).contains($0) } ?? false
    }

    /// The target of files checks the same, and more, when it is made.
    private static func isUserPath(_ text: String) -> Bool {
        let names = text.split(separator: "/", omittingEmptySubsequences: false)
        let users = names.filter { $0.contains("{user_id}") }
        return names.count <= 16 && isPrintable(text) && users.count == 1
            && users[0].split(separator: "{user_id}", omittingEmptySubsequences: false).count == 2
            && !users[0].contains { "*?[\\".contains($0) }
            && names.allSatisfy { !["", ".", ".."].contains($0) && $0.utf8.count <= 255 }
    }

    private static func isGUID(_ text: String) -> Bool {
        let groups = text.split(separator: "-", omittingEmptySubsequences: false)
        return groups.map(\.utf8.count) == [8, 4, 4, 4, 12]
            && groups.joined().utf8.allSatisfy(isHexadecimal)
    }

    /// At least two labels (RFC 1123 §2.1), in lower case.
    private static func isDomain(_ text: String) -> Bool {
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        return labels.count > 1 && text.utf8.count <= 253
            && labels.allSatisfy { label in
                (1...63).contains(label.utf8.count)
                    && label.utf8.allSatisfy { isLower($0) || isDigit($0) || $0 == 0x2d }
            }
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        isDigit(byte) || (0x61...0x66).contains(byte) || (0x41...0x46).contains(byte)
    }

    private static func isLower(_ byte: UInt8) -> Bool { (0x61...0x7a).contains(byte) }
    private static func isUpper(_ byte: UInt8) -> Bool { (0x41...0x5a).contains(byte) }
    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    /// No C0 or C1 control characters and no line separators: such a text would forge lines in a
    /// log.
    private static func isPrintable(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            scalar.value >= 0x20 && !(0x7f...0x9f).contains(scalar.value)
                && scalar.value != 0x2028 && scalar.value != 0x2029
        }
    }
}
