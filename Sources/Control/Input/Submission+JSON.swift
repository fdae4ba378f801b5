package import Encoding
package import Lifecycle

extension Submission: WireInput {
    package static let fields: [WireField] = [
        .required("kind", .choice(RequestKind.allCases.map(\.rawValue)), "The kind of request."),
        .required("user_id", .text, "1 to 255 bytes, without control characters."),
        .optional("options", .object("RequestOptions"), "Never secrets."),
        .optional("sign_in", .object("SignInInput"), "For `require_fresh_sign_in`."),
    ]

    /// Reads a body.
    ///
    /// - Parameter body: The bytes of the body.
    /// - Throws: ``ControlProblem`` that names the first field at fault.
    package init(body: [UInt8]) throws(ControlProblem) {
        let object = try InputObject(body: body, fields: Self.fields)
        let kindText = try object.requiredText("kind")
        guard let kind = RequestKind(rawValue: kindText) else {
            throw object.problem("kind", "is not a kind of request", .unknownKind)
        }
        guard let userValue = object.value("user_id") else {
            throw object.problem("user_id", "is missing", .missingField)
        }
        guard let user = userValue.string.flatMap(UserID.init) else {
            throw object.problem(
                "user_id",
                "must be a text of 1 to 255 bytes without control characters",
                .malformedUserID
            )
        }
        self.init(kind: kind, user: user)
        switch object.value("options") {
        case nil: break
        case .object(let members)?: options = try RequestOptions(members: members, kind: kind)
        default: throw object.problem("options", "must be an object")
        }
        switch object.value("sign_in") {
        case nil: break
        case .object(let members)?: signIn = try SignInInput(members: members)
        default: throw object.problem("sign_in", "must be an object")
        }
    }

    /// The body that ``init(body:)`` reads.
    package var body: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("kind", kind.rawValue)
            writer.member("user_id", user.exposeText())
            writer.name("options")
            options.write(to: &writer)
            if let signIn {
                writer.name("sign_in")
                signIn.write(to: &writer)
            }
        }
        return writer.bytes
    }
}

extension RequestOptions: WireObject {
    package static let fields: [WireField] = [
        .optional("grace_s", .integer, "Lengthens the grace period, in seconds."),
        .optional("providers", .list(.text), "Only these; `revoke_tokens` only."),
        .optional("reason", .text, "A code: 1 to 64 of `a-z`, `0-9`, `_` and `-`."),
        .optional("account_created_at", .time, "When the account was made."),
    ]

    /// Reads the members of an options object; the spool's `options` column has the same rules.
    ///
    /// - Parameters:
    ///   - members: The members as they came.
    ///   - kind: Some options belong to one kind only.
    /// - Throws: ``ControlProblem`` with `unknown_option` or `malformed_option`.
    package init(members: [JSONValue.Member], kind: RequestKind) throws(ControlProblem) {
        self.init()
        let object = try InputObject(options: members, fields: Self.fields)
        if let value = object.value("grace_s") {
            guard case .integer(let seconds) = value,
                (0...ControlLimits.graceSecondsMax).contains(seconds)
            else { throw object.problem("grace_s", "must be whole seconds from 0 to ten years") }
            grace = .seconds(seconds)
        }
        if let value = object.value("providers") {
            providers = try Self.providers(value, kind: kind, object)
        }
        if let code = try object.text("reason", byteCountMax: ControlLimits.reasonCodeByteCountMax)
        {
            guard code.utf8.allSatisfy(Self.isCodeByte) else {
                throw object.problem("reason", "must be a code of a-z, 0-9, _ and -")
            }
            reason = code
        }
        if let text = try object.text("account_created_at") {
            guard let time = WallTime(rfc3339: text) else {
                throw object.problem("account_created_at", "must be an RFC 3339 time")
            }
            accountCreatedAt = time
        }
    }

    private static func isCodeByte(_ byte: UInt8) -> Bool {
        (0x61...0x7a).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x5f || byte == 0x2d
    }

    private static func providers(
        _ value: JSONValue,
        kind: RequestKind,
        _ object: InputObject
    )
        throws(ControlProblem) -> [ProviderName]
    {
        guard kind == .revokeTokens else {
            throw object.problem("providers", "belongs to revoke_tokens only")
        }
        guard case .array(let items) = value,
            (1...ControlLimits.providersPerRequestMax).contains(items.count)
        else { throw object.problem("providers", "must be a list of names") }
        var names: [ProviderName] = []
        for item in items {
            guard let name = item.string.flatMap(PathText.componentName) else {
                throw object.problem("providers", "must be a list of names")
            }
            names.append(ProviderName(name))
        }
        return names
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("grace_s", grace.map(\.components.seconds))
            if let providers {
                writer.name("providers")
                writer.array(providers) { writer, name in writer.string(name.rawValue) }
            }
            writer.member("reason", reason)
            writer.member("account_created_at", accountCreatedAt?.rfc3339)
        }
    }
}
