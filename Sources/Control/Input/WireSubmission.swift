package import Encoding
package import Lifecycle

/// The body of `POST /v1/requests`.
package struct WireSubmission: WireInput, Hashable {
    package var kind: RequestKind
    package var user: UserID
    package var options: SubmissionOptions
    package var signIn: SignInInput?
    /// Where the user gets the confirmation; `delete_account` only.
    package var notifyEmail: MailAddress?
    package var language = MessageLanguage.english

    package init(kind: RequestKind, user: UserID, options: SubmissionOptions = SubmissionOptions())
    {
        (self.kind, self.user, self.options) = (kind, user, options)
    }

    package static let members: [WireMember<WireSubmission>] = [
        .required(
            "kind",
            \.kind.rawValue,
            as: .oneOf(all: RequestKind.self),
            "The kind of request."
        ),
        .required(
            "user_id",
            { $0.user.exposeText() },
            as: .userID,
            "1 to 255 bytes, without control characters."
        ),
        .optional("options", { $0.options }, "Never secrets."),
        .optional("sign_in", \.signIn, "For `require_fresh_sign_in`."),
        .optional(
            "notify_email",
            { $0.notifyEmail?.text },
            as: .pattern(MailAddress.pattern, byteCountMax: MailAddress.byteCountMax),
            "Where the user gets a confirmation; `delete_account` only."
        ),
        .optional(
            "language",
            { $0.notifyEmail == nil ? nil : $0.language.rawValue },
            as: .oneOf(all: MessageLanguage.self),
            "Of the confirmation."
        ),
    ]

    package static let rules: [JSONValue.Member] = [
        .init(
            "anyOf",
            [
                ["properties": ["kind": ["const": "revoke_tokens"]]],
                [
                    "properties": [
                        "options": ["properties": ["providers": ["type": "null"]]]
                    ]
                ],
            ]
        ),
        .init(
            "if",
            ["properties": ["kind": ["const": "revoke_tokens"]], "required": ["kind"]]
        ),
        .init("then", ["properties": ["notify_email": ["type": "null"]]]),
    ]

    /// Reads a body.
    package init(body: [UInt8]) throws(ControlProblem) {
        let object = try InputObject(body: body, fields: Self.fields)
        guard let kind = RequestKind(rawValue: try object.requiredText("kind")) else {
            throw object.problem("kind", "is not a kind of request", .unknownKind)
        }
        guard let user = try object.required("user_id").string.flatMap(UserID.init) else {
            throw object.problem(
                "user_id",
                "must be a text of 1 to 255 bytes without control characters",
                .malformedUserID
            )
        }
        self.init(kind: kind, user: user)
        if let members = try object.members("options") {
            options = try SubmissionOptions(members: members, kind: kind)
        }
        if let members = try object.members("sign_in") {
            signIn = try SignInInput(members: members)
        }
        try readConfirmation(object)
    }

    private mutating func readConfirmation(_ object: InputObject) throws(ControlProblem) {
        if let text = try object.text("notify_email") {
            guard let address = MailAddress(text) else {
                throw object.problem("notify_email", "must be one address in ASCII")
            }
            guard kind == .deleteAccount else {
                throw object.problem("notify_email", "belongs to delete_account only")
            }
            notifyEmail = address
        }
        guard let code = try object.text("language") else { return }
        guard let known = MessageLanguage(rawValue: code) else {
            throw object.problem("language", "must be en, de, fr, es or it")
        }
        language = known
    }
}

extension SubmissionOptions: WireInputPart {
    package static let schemaName = "RequestOptions"
    package static let members: [WireMember<SubmissionOptions>] = [
        .optional(
            "grace_s",
            \.graceSeconds,
            as: .number(0...ControlLimits.graceSecondsMax),
            "Lengthens the grace period, in seconds."
        ),
        .optional(
            "providers",
            { $0.providers?.map(\.rawValue).sorted() },
            as: .items(.name, 1...ControlLimits.providersPerRequestMax),
            "Only these; `revoke_tokens` only."
        ),
        .optional(
            "reason",
            \.reason,
            as: .pattern(
                "[a-z0-9_-]{1,\(ControlLimits.reasonCodeByteCountMax)}",
                byteCountMax: ControlLimits.reasonCodeByteCountMax
            ),
            "A code: 1 to 64 of `a-z`, `0-9`, `_` and `-`."
        ),
        .optional("account_created_at", \.accountCreatedAt, "When the account was made."),
    ]

    /// Reads the members of an options object; the spool's `options` column has the same rules.
    ///
    /// - Throws: ``ControlProblem`` with `unknown_option` or `malformed_option`; some options
    ///   belong to one kind only.
    package init(members: [JSONValue.Member], kind: RequestKind) throws(ControlProblem) {
        self.init()
        let object = try InputObject(
            members,
            in: "options.",
            malformed: .malformedOption,
            unknown: .unknownOption,
            fields: Self.fields
        )
        if let value = object.value("grace_s") {
            guard let seconds = value.number.flatMap({ Int64(exactly: $0) }),
                (0...ControlLimits.graceSecondsMax).contains(seconds)
            else { throw object.problem("grace_s", "must be whole seconds from 0 to ten years") }
            graceSeconds = Int(seconds)
        }
        if let value = object.value("providers") {
            providers = try Self.providers(value, kind: kind, object)
        }
        if let code = try object.text("reason") {
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
        throws(ControlProblem) -> Set<ProviderName>
    {
        guard kind == .revokeTokens else {
            throw object.problem("providers", "belongs to revoke_tokens only")
        }
        guard case .array(let items) = value,
            (1...ControlLimits.providersPerRequestMax).contains(items.count)
        else { throw object.problem("providers", "must be a list of names") }
        let names = items.compactMap { $0.string.flatMap(PathText.componentName) }
        guard names.count == items.count else {
            throw object.problem("providers", "must be a list of names")
        }
        return Set(names.map { ProviderName($0) })
    }
}

/// The body of a dry run: whose deletion is planned.
package struct PlanInput: WireInput, Hashable {
    package var user: UserID

    package init(user: UserID) { self.user = user }

    package static let members: [WireMember<PlanInput>] = [
        .required(
            "user_id",
            { $0.user.exposeText() },
            as: .userID,
            "The application's user id, 1 to 255 bytes."
        )
    ]

    /// Reads a body.
    package init(body: [UInt8]) throws(ControlProblem) {
        let value = try InputObject(body: body, fields: Self.fields).required("user_id")
        guard let user = value.string.flatMap({ UserID($0) }) else {
            throw ControlProblem(.malformedUserID)
        }
        self.user = user
    }
}
