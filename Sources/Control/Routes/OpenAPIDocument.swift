package import Encoding

/// The OpenAPI 3.1 description of the control API, made from the route table and the wire types.
package enum OpenAPIDocument {
    /// The whole document (https://spec.openapis.org/oas/v3.1.0).
    package static var value: JSONValue {
        object([
            ("openapi", .string("3.1.0")),
            (
                "info",
                object([
                    ("title", .string("expunged control API")),
                    ("version", .string("1")),
                    (
                        "description",
                        .string(
                            "HTTP/1.1 and JSON over the Unix sockets /run/expunged/submit.sock and "
                                + "/run/expunged/control.sock. The role comes from the socket."
                        )
                    ),
                ])
            ),
            ("paths", paths),
            ("components", object([("schemas", schemas)])),
        ])
    }

    private static func object(_ members: [(String, JSONValue)]) -> JSONValue {
        .object(members.map { JSONValue.Member($0.0, $0.1) })
    }

    private static func reference(_ name: String) -> JSONValue {
        object([("$ref", .string("#/components/schemas/\(name)"))])
    }

    private static var paths: JSONValue {
        var patterns: [String] = []
        for route in RouteTable.routes where !patterns.contains(route.pattern) {
            patterns.append(route.pattern)
        }
        return object(
            patterns.map { pattern in
                let rows = RouteTable.routes.filter { $0.pattern == pattern }
                return (
                    pattern, object(rows.map { ($0.method.rawValue.lowercased(), operation($0)) })
                )
            }
        )
    }

    private static func operation(_ route: Route) -> JSONValue {
        var members: [(String, JSONValue)] = [
            ("operationId", .string(route.operation.rawValue)),
            ("summary", .string(route.summary)),
            ("x-role", .string(route.role.rawValue)),
        ]
        let parameters = parameters(route)
        if !parameters.isEmpty { members.append(("parameters", .array(parameters))) }
        if let input = route.input, !input.fields.isEmpty {
            let content = content("application/json", reference(input.schemaName))
            let isRequired = input.fields.contains { $0.isRequired }
            members.append(
                ("requestBody", object([("required", .bool(isRequired)), ("content", content)]))
            )
        }
        if route.takesRawBody {
            let content = content("*/*", object([("type", .string("string"))]))
            members.append(
                ("requestBody", object([("required", .bool(true)), ("content", content)]))
            )
        }
        members.append(("responses", responses(route)))
        return object(members)
    }

    private static func parameters(_ route: Route) -> [JSONValue] {
        let path = route.parameterNames.map { name in
            object([
                ("name", .string(name)), ("in", .string("path")), ("required", .bool(true)),
                ("schema", object([("type", .string("string"))])),
            ])
        }
        let query = route.queryFields.map { field in
            object([
                ("name", .string(field.name)), ("in", .string("query")),
                ("description", .string(field.summary)), ("schema", schema(field.type)),
            ])
        }
        if route.takesRawBody { return path + query + forwardedFields }
        guard route.takesIdempotencyKey else { return path + query }
        let key = object([
            ("name", .string("Idempotency-Key")), ("in", .string("header")),
            (
                "description",
                .string("1 to 255 visible characters; the same key, the same request.")
            ),
            ("schema", object([("type", .string("string")), ("maxLength", .integer(255))])),
        ])
        return path + query + [key]
    }

    /// What the web server hands on besides the body.
    private static var forwardedFields: [JSONValue] {
        NotificationInput.fieldNames.filter { $0 != "content-type" && $0 != "authorization" }.map {
            object([
                ("name", .string($0)), ("in", .string("header")),
                ("description", .string("As the provider sent it; see the guide.")),
                ("schema", object([("type", .string("string"))])),
            ])
        }
    }

    private static func content(_ type: String, _ schema: JSONValue) -> JSONValue {
        object([(type, object([("schema", schema)]))])
    }

    private static func responses(_ route: Route) -> JSONValue {
        var success: [(String, JSONValue)] = [("description", .string(route.summary))]
        switch route.answer {
        case .object(let type):
            success.append(("content", content("application/json", reference(type.schemaName))))
        case .document(let type):
            success.append(("content", content("application/json", reference(type.schemaName))))
        case .events(let type):
            success.append(("content", content("text/event-stream", reference(type.schemaName))))
        case .metrics:
            success.append(
                (
                    "content",
                    content(
                        "application/openmetrics-text",
                        object([("type", .string("string"))])
                    )
                )
            )
        case .nothing: break
        }
        let problem = content("application/problem+json", reference(WireProblem.schemaName))
        let bodyProblems: [ControlProblem.Code] =
            route.input == nil
            ? []
            : [
                .bodyTooLarge, .malformedField, .malformedJSON, .unknownField,
                .unsupportedMediaType,
            ]
        let codes = route.problems + bodyProblems + Route.commonProblems
        let failures = Dictionary(grouping: codes, by: \.status).sorted { $0.key < $1.key }
            .map { status, codes in
                let names = codes.map(\.rawValue).sorted().joined(separator: ", ")
                return (
                    "\(status)", object([("description", .string(names)), ("content", problem)])
                )
            }
        return object([("\(route.successStatus)", object(success))] + failures)
    }
}

extension OpenAPIDocument {
    /// Every documented object, sorted by name.
    package static let types: [any WireObject.Type] = wireTypes + ReceiptFields.types

    private static let wireTypes: [any WireObject.Type] = [
        ApproveInput.self, ControlProblem.Detail.self, CredentialInput.self, HoldInput.self,
        OverrideInput.self, PlanInput.self, ReasonInput.self, ReauthorizeInput.self,
        RequestOptions.self, SignInInput.self,
        Submission.self, WireEvent.self, WireGuard.self, WireHealth.self, WireHold.self,
        WireIdentity.self, WireKeyRotation.self, WireLedger.self, WireLedgerEntries.self,
        WireLedgerFinding.self, WireList<WireHealth>.self, WireList<WireHold>.self,
        WireList<WireIdentity>.self, WireList<WireRequest>.self, WireNotification.self,
        WireNotificationStatus.self, WirePlan.self, WirePlanChange.self, WirePlanIdentity.self,
        WirePlanItem.self, WirePlanRule.self, WirePlanTarget.self, WireProblem.self,
        WireReload.self, WireReplay.self, WireReplayTarget.self, ReplayInput.self, WireRequest.self,
        WireStatus.self, WireStep.self, WireStoredCredential.self, WireUserAction.self,
        WireAddendum.self, WireForgotten.self, WireUnheld.self, WireUserHold.self,
        WireVault.self, WireVaultKey.self,
    ]

    private static var schemas: JSONValue {
        object(
            types.sorted { $0.schemaName < $1.schemaName }.map { type in
                let properties = type.fields.map { field in (field.name, property(field)) }
                let required = type.fields.filter(\.isRequired).map { JSONValue.string($0.name) }
                var members: [(String, JSONValue)] = [("type", .string("object"))]
                if !required.isEmpty { members.append(("required", .array(required))) }
                members.append(("properties", object(properties)))
                return (type.schemaName, object(members))
            }
        )
    }

    private static func property(_ field: WireField) -> JSONValue {
        guard case .object(let members) = schema(field.type) else { return .null }
        return .object(members + [JSONValue.Member("description", .string(field.summary))])
    }

    private static func schema(_ type: WireFieldType) -> JSONValue {
        switch type {
        case .text: object([("type", .string("string"))])
        case .time: object([("type", .string("string")), ("format", .string("date-time"))])
        case .uuid: object([("type", .string("string")), ("format", .string("uuid"))])
        case .secret:
            object([
                ("type", .string("string")), ("format", .string("password")),
                ("writeOnly", .bool(true)),
            ])
        case .integer: object([("type", .string("integer")), ("format", .string("int64"))])
        case .boolean: object([("type", .string("boolean"))])
        case .choice(let values):
            // Not `enum`: a newer daemon may say more, and readers must not refuse it.
            object([
                ("type", .string("string")),
                ("examples", .array(values.map { JSONValue.string($0) })),
            ])
        case .object(let name): reference(name)
        case .list(let item): object([("type", .string("array")), ("items", schema(item))])
        case .counts:
            object([
                ("type", .string("object")),
                ("additionalProperties", object([("type", .string("integer"))])),
            ])
        }
    }
}
