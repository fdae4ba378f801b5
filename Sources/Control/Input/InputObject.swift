import Encoding
import Lifecycle

/// The members of one JSON object that came in, read by name and checked.
///
/// Errors name fields, never values.
struct InputObject {
    private let members: [JSONValue.Member]
    private let prefix: String
    private let malformed: ControlProblem.Code

    /// Reads a body.
    ///
    /// - Parameters:
    ///   - body: The bytes of the body; empty reads as an object without members.
    ///   - fields: The only names that may occur.
    /// - Throws: ``ControlProblem`` with `malformed_json` or `unknown_field`.
    init(body: [UInt8], fields: [WireField]) throws(ControlProblem) {
        guard !body.isEmpty else {
            (members, prefix, malformed) = ([], "", .malformedField)
            return
        }
        let value: JSONValue
        do {
            value = try JSONReader.read(body, depthMax: ControlLimits.jsonDepthMax)
        } catch {
            throw ControlProblem(
                .malformedJSON,
                "\(error.kind.rawValue) at byte \(error.byteOffset)"
            )
        }
        guard case .object(let members) = value else {
            throw ControlProblem(.malformedJSON, "the body must be one JSON object")
        }
        self.members = members
        prefix = ""
        malformed = .malformedField
        try check(fields, unknown: .unknownField)
    }

    /// Reads the options of a request.
    init(options members: [JSONValue.Member], fields: [WireField]) throws(ControlProblem) {
        self.members = members
        prefix = "options."
        malformed = .malformedOption
        try check(fields, unknown: .unknownOption)
    }

    /// Reads any other object inside another one.
    init(
        members: [JSONValue.Member],
        of parent: String,
        malformed: ControlProblem.Code,
        fields: [WireField]
    ) throws(ControlProblem) {
        self.members = members
        prefix = parent + "."
        self.malformed = malformed
        try check(fields, unknown: .unknownField)
    }

    private func check(_ fields: [WireField], unknown: ControlProblem.Code) throws(ControlProblem) {
        for member in members where !fields.contains(where: { $0.name == member.name }) {
            let name = Self.printable(member.name)
            throw ControlProblem(
                unknown,
                "'\(prefix)\(name)' is not known",
                errors: [.init(field: prefix + name, message: unknown.title)]
            )
        }
    }

    /// A name as it may be repeated in an error: short, and of harmless characters.
    private static func printable(_ name: String) -> String {
        let isHarmless = name.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte)
                || (0x61...0x7a).contains(byte) || byte == 0x5f || byte == 0x2d || byte == 0x2e
        }
        return isHarmless && (1...64).contains(name.utf8.count) ? name : "(unprintable)"
    }

    /// The problem of a field whose value is not allowed.
    func problem(
        _ name: String,
        _ message: String,
        _ code: ControlProblem.Code? = nil
    )
        -> ControlProblem
    {
        ControlProblem(
            code ?? malformed,
            "'\(prefix)\(name)' \(message)",
            errors: [.init(field: prefix + name, message: message)]
        )
    }

    /// A member; `null` counts as absent.
    func value(_ name: String) -> JSONValue? {
        guard let value = members.first(where: { $0.name == name })?.value, value != .null else {
            return nil
        }
        return value
    }

    /// A text of 1 to `byteCountMax` bytes without control characters, or `nil` when absent.
    func text(
        _ name: String,
        byteCountMax: Int = ControlLimits.textByteCountMax
    )
        throws(ControlProblem) -> String?
    {
        guard let value = value(name) else { return nil }
        guard let text = value.string else { throw problem(name, "must be a string") }
        guard (1...byteCountMax).contains(text.utf8.count) else {
            throw problem(name, "must have 1 to \(byteCountMax) bytes")
        }
        guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else {
            throw problem(name, "must not have control characters")
        }
        return text
    }

    /// Like ``text(_:byteCountMax:)``, but it must be there.
    func requiredText(
        _ name: String,
        byteCountMax: Int = ControlLimits.textByteCountMax
    )
        throws(ControlProblem) -> String
    {
        guard let text = try text(name, byteCountMax: byteCountMax) else {
            throw problem(name, "is missing", .missingField)
        }
        return text
    }

    /// A secret of 1 to 8192 bytes, or `nil` when absent.
    func secret(_ name: String) throws(ControlProblem) -> Secret? {
        try text(name, byteCountMax: ControlLimits.secretByteCountMax).map { Secret($0) }
    }

    /// A configured name, or `nil` when absent.
    func providerName(_ name: String) throws(ControlProblem) -> ProviderName? {
        guard let text = try text(name) else { return nil }
        guard let provider = PathText.componentName(text) else {
            throw problem(name, "is not the name of a provider", .unknownProvider)
        }
        return ProviderName(provider)
    }
}
