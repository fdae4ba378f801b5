import Encoding
import Lifecycle

/// The members of one JSON object that came in, read by name and checked.
///
/// Errors name fields, never values.
struct InputObject {
    private let members: [JSONValue.Member]
    private let prefix: String
    private let fields: [WireField]
    private let malformed: ControlProblem.Code

    /// Reads a body, in which only `fields` may occur; empty reads as an object without members.
    init(body: [UInt8], fields: [WireField]) throws(ControlProblem) {
        let value: JSONValue
        do {
            value =
                body.isEmpty
                ? .object([]) : try JSONReader.read(body, depthMax: ControlLimits.jsonDepthMax)
        } catch {
            throw ControlProblem(
                .malformedJSON,
                "\(error.kind.rawValue) at byte \(error.byteOffset)"
            )
        }
        guard case .object(let members) = value else {
            throw ControlProblem(.malformedJSON, "the body must be one JSON object")
        }
        try self.init(members, in: "", fields: fields)
    }

    /// Reads members; `prefix` stands before their names in errors.
    init(
        _ members: [JSONValue.Member],
        in prefix: String,
        malformed: ControlProblem.Code = .malformedField,
        unknown: ControlProblem.Code = .unknownField,
        fields: [WireField]
    ) throws(ControlProblem) {
        (self.members, self.prefix) = (members, prefix)
        (self.fields, self.malformed) = (fields, malformed)
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
    ) -> ControlProblem {
        ControlProblem(code ?? malformed, field: prefix + name, message)
    }

    /// A member; `null` counts as absent.
    func value(_ name: String) -> JSONValue? {
        let value = members.first { $0.name == name }?.value
        return value == .null ? nil : value
    }

    func required(_ name: String) throws(ControlProblem) -> JSONValue {
        try required(name, value(name))
    }

    func required<Value>(_ name: String, _ value: Value?) throws(ControlProblem) -> Value {
        guard let value else { throw problem(name, "is missing", .missingField) }
        return value
    }

    /// The members of an object, or `nil` when absent.
    func members(_ name: String) throws(ControlProblem) -> [JSONValue.Member]? {
        switch value(name) {
        case nil: return nil
        case .object(let members)?: return members
        default: throw problem(name, "must be an object")
        }
    }

    /// A text without control characters, within the bounds of its field, or `nil` when absent.
    func text(_ name: String) throws(ControlProblem) -> String? {
        let type = fields.first { $0.name == name }?.type
        return try text(name, byteCounts: type?.byteCounts ?? 1...ControlLimits.textByteCountMax)
    }

    private func text(
        _ name: String,
        byteCounts: ClosedRange<Int>
    ) throws(ControlProblem) -> String? {
        guard let value = value(name) else { return nil }
        guard let text = value.string else { throw problem(name, "must be a string") }
        guard byteCounts.contains(text.utf8.count) else {
            let (least, most) = (byteCounts.lowerBound, byteCounts.upperBound)
            throw problem(name, "must have \(least) to \(most) bytes")
        }
        guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else {
            throw problem(name, "must not have control characters")
        }
        return text
    }

    func requiredText(_ name: String) throws(ControlProblem) -> String {
        try required(name, text(name))
    }

    /// A secret of 1 to 8192 bytes, or `nil` when absent.
    func secret(_ name: String) throws(ControlProblem) -> Secret? {
        try text(name).map { Secret($0) }
    }

    /// The name of a provider, or `nil` when absent.
    func provider(_ name: String) throws(ControlProblem) -> ProviderName? {
        try componentName(name, "provider", .unknownProvider).map { ProviderName($0) }
    }

    /// The name of a store, or `nil` when absent.
    func store(_ name: String) throws(ControlProblem) -> StoreName? {
        try componentName(name, "store", .unknownStore).map { StoreName($0) }
    }

    private func componentName(
        _ name: String,
        _ noun: String,
        _ unknown: ControlProblem.Code
    ) throws(ControlProblem) -> String? {
        // The rule of names has its own bound, and its own code.
        let most = ControlLimits.textByteCountMax
        guard let text = try text(name, byteCounts: 1...most) else { return nil }
        guard ComponentName.isValid(text) else {
            throw problem(name, "is not the name of a \(noun)", unknown)
        }
        return text
    }
}
