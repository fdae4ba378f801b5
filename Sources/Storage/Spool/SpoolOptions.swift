import Encoding
import Engine
import Lifecycle

/// Reads the closed set of options of a request; the rules are those of `POST /v1/requests`.
enum SpoolOptions {
    /// Reads the text of the `options` column.
    ///
    /// - Throws: Why the row is refused.
    static func read(
        _ text: String,
        of kind: RequestKind
    ) throws(RejectReason) -> SubmissionOptions {
        var options = SubmissionOptions()
        if text == "{}" { return options }
        guard text.unicodeScalars.count <= SpoolLimits.optionsLengthMax,
            case .object(let members)? = JSONValue(Array(text.utf8))
        else { throw .malformedOption }
        for member in members { try read(member, of: kind, into: &options) }
        return options
    }

    private static func read(
        _ member: JSONValue.Member,
        of kind: RequestKind,
        into options: inout SubmissionOptions
    ) throws(RejectReason) {
        switch member.name {
        case "grace_s":
            guard case .integer(let seconds) = member.value,
                (0...Int64(SpoolLimits.graceSecondsMax)).contains(seconds)
            else { throw .malformedOption }
            options.graceSeconds = Int(seconds)
        case "providers":
            let items = member.value.array ?? []
            let names = items.compactMap(\.string).filter { isName($0) }
            guard kind == .revokeTokens, (1...SpoolLimits.providersMax).contains(items.count),
                names.count == items.count
            else { throw .malformedOption }
            options.providers = Set(names.map { ProviderName($0) })
        case "reason":
            guard let code = member.value.string, isCode(code) else { throw .malformedOption }
            options.reason = code
        case "account_created_at":
            guard let time = member.value.string.flatMap({ WallTime(rfc3339: $0) }) else {
                throw .malformedOption
            }
            options.accountCreatedAt = time
        default:
            throw .unknownOption
        }
    }

    /// One text for equal options, for their fingerprint.
    static func canonicalText(_ options: SubmissionOptions) -> String {
        let names = options.providers.map { $0.map(\.rawValue).sorted().joined(separator: ",") }
        return [
            options.graceSeconds.map(String.init), names, options.reason,
            options.accountCreatedAt.map { String($0.unixMilliseconds) },
        ].map { $0 ?? "-" }.joined(separator: "\n")
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
