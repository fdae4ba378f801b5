import Engine
import GRDB
import Lifecycle

/// Reads the closed set of options of a request; the rules are those of `POST /v1/requests`.
enum SpoolOptions {
    /// What the text of the `options` column means.
    enum Outcome: Hashable, Sendable {
        case options(SubmissionOptions)
        case refused(RejectReason)
    }

    /// Reads one text with SQLite's own JSON functions (sqlite.org/json1.html).
    ///
    /// - Throws: `DatabaseError` when the database itself is in failure.
    static func read(_ text: String, of kind: RequestKind, _ database: Database) throws -> Outcome {
        if text == "{}" { return .options(SubmissionOptions()) }
        guard text.unicodeScalars.count <= SpoolLimits.optionsLengthMax,
            !text.unicodeScalars.contains("\0"), try isObject(text, database)
        else { return .refused(.malformedOption) }
        var options = SubmissionOptions()
        var seen: Set<String> = []
        let members = try database.all(
            "SELECT key, type, atom FROM json_each(?1)",
            [.text(text)]
        ) { (key: $0.text("key"), type: $0.text("type"), atom: $0.text("atom")) }
        for (key, type, atom) in members {
            guard seen.insert(key).inserted else { return .refused(.malformedOption) }
            switch key {
            case "grace_s":
                guard type == "integer", let seconds = Int(atom),
                    (0...SpoolLimits.graceSecondsMax).contains(seconds)
                else { return .refused(.malformedOption) }
                options.graceSeconds = seconds
            case "providers":
                guard kind == .revokeTokens, type == "array",
                    let names = try providers(text, database)
                else { return .refused(.malformedOption) }
                options.providers = names
            case "reason":
                guard type == "text", isCode(atom) else { return .refused(.malformedOption) }
                options.reason = atom
            case "account_created_at":
                guard type == "text", let time = WallTime(rfc3339: atom) else {
                    return .refused(.malformedOption)
                }
                options.accountCreatedAt = time
            default:
                return .refused(.unknownOption)
            }
        }
        return .options(options)
    }

    /// One text for equal options, for their fingerprint.
    static func canonicalText(_ options: SubmissionOptions) -> String {
        let names = options.providers.map { $0.map(\.rawValue).sorted().joined(separator: ",") }
        return [
            options.graceSeconds.map(String.init), names, options.reason,
            options.accountCreatedAt.map { String($0.unixMilliseconds) },
        ].map { $0 ?? "-" }.joined(separator: "\n")
    }

    private static func isObject(_ text: String, _ database: Database) throws -> Bool {
        try database.first(
            "SELECT CASE WHEN json_valid(?1) THEN substr(json(?1), 1, 1) = '{' ELSE 0 END",
            [.text(text)]
        ) { $0.bool() } ?? false
    }

    private static func providers(
        _ text: String,
        _ database: Database
    ) throws -> Set<ProviderName>? {
        let items = try database.all(
            "SELECT type, atom FROM json_each(?1, '$.providers')",
            [.text(text)]
        ) { (type: $0.text("type"), atom: $0.text("atom")) }
        guard (1...SpoolLimits.providersMax).contains(items.count),
            items.allSatisfy({ $0.type == "text" && isName($0.atom) })
        else { return nil }
        return Set(items.map { ProviderName($0.atom) })
    }

    /// A configured name; which ones there are is not known here.
    static func isName(_ text: String) -> Bool {
        (1...SpoolLimits.nameByteCountMax).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                isCodeByte($0) || $0 == UInt8(ascii: ".") || $0 & 0xdf &- 65 < 26
            }
    }

    private static func isCode(_ text: String) -> Bool {
        (1...SpoolLimits.reasonByteCountMax).contains(text.utf8.count)
            && text.utf8.allSatisfy(isCodeByte)
    }

    private static func isCodeByte(_ byte: UInt8) -> Bool {
        (0x61...0x7a).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x5f || byte == 0x2d
    }
}
