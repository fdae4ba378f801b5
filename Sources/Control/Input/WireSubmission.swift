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
        .field("kind", \.kind.rawValue, as: .oneOf(all: RequestKind.self), "The kind of request."),
        .field(
            "user_id",
            { $0.user.exposeText() },
            as: .userID,
            "1 to 255 bytes, without control characters."
        ),
        .field("options", { Optional($0.options) }, "Never secrets."),
        .field("sign_in", \.signIn, "For `require_fresh_sign_in`."),
        .field(
            "notify_email",
            { $0.notifyEmail?.text },
            as: .pattern(MailAddress.pattern, byteCountMax: MailAddress.byteCountMax),
            "Where the user gets a confirmation; `delete_account` only."
        ),
        .field(
            "language",
            { $0.notifyEmail == nil ? nil : Optional($0.language.rawValue) },
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
        .field(
            "grace_s",
            \.graceSeconds,
            as: .number(SubmissionOptions.graceSecondsRange),
            "Lengthens the grace period, in seconds."
        ),
        .field(
            "providers",
            { $0.providers?.map(\.rawValue).sorted() },
            as: .items(.name, SubmissionOptions.providerCounts),
            "Only these; `revoke_tokens` only."
        ),
        .field(
            "reason",
            \.reason,
            as: .pattern(
                "[a-z0-9_-]{1,\(SubmissionOptions.reasonByteCountMax)}",
                byteCountMax: SubmissionOptions.reasonByteCountMax
            ),
            "A code: 1 to 64 of `a-z`, `0-9`, `_` and `-`."
        ),
        .field("account_created_at", \.accountCreatedAt, "When the account was made."),
    ]

    /// Reads the members of an options object.
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
        for name in Self.fields.map(\.name) {
            guard let value = object.value(name) else { continue }
            do throws(OptionProblem) {
                try read(
                    name,
                    of: kind,
                    number: value.number.flatMap { Int64(exactly: $0) },
                    text: value.string,
                    list: value.array?.map(\.string)
                )
            } catch {
                // The object has no unknown names.
                guard case .malformed(let message) = error else { continue }
                throw object.problem(name, message)
            }
        }
    }
}

/// The body of a dry run: whose deletion is planned.
package struct PlanInput: WireInput, Hashable {
    package var user: UserID

    package init(user: UserID) { self.user = user }

    package static let members: [WireMember<PlanInput>] = [
        .field(
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
