package import Encoding
import Lifecycle

/// The OpenAPI 3.1 description of the control API, made from the route table and the wire types.
package enum OpenAPIDocument {
    /// The whole document (https://spec.openapis.org/oas/v3.1.0).
    package static var value: JSONValue {
        [
            "openapi": "3.1.0",
            "info": [
                "title": "expunged control API",
                "version": "1",
                "description": .string(
                    "HTTP/1.1 and JSON over the Unix sockets submit.sock, viewer.sock and "
                        + "control.sock below /run/expunged. The role comes from the socket."
                ),
            ],
            "paths": paths,
            "components": ["schemas": schemas],
        ]
    }

    static let bytes = Array((value.indentedText).utf8)

    private static func object(_ members: [(String, JSONValue)]) -> JSONValue {
        .object(members.map { JSONValue.Member($0.0, $0.1) })
    }

    private static func reference(_ name: String) -> JSONValue {
        ["$ref": .string("#/components/schemas/\(name)")]
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
            ("x-roles", .array(route.roles.map { .string($0.rawValue) })),
        ]
        let parameters = parameters(route)
        if !parameters.isEmpty { members.append(("parameters", .array(parameters))) }
        if let input = route.input, !input.fields.isEmpty {
            let isRequired = input.fields.contains { $0.isRequired }
            let content = content("application/json", reference(input.schemaName))
            members.append(("requestBody", ["required": .bool(isRequired), "content": content]))
        }
        if route.takesRawBody {
            let content = content("*/*", .object([]))
            members.append(("requestBody", ["content": content]))
        }
        members.append(("responses", responses(route)))
        return object(members)
    }

    private static let text: JSONValue = ["type": "string"]

    private static func parameters(_ route: Route) -> [JSONValue] {
        let path = route.parameterNames.map { name -> JSONValue in
            [
                "name": .string(name), "in": "path", "required": true,
                "schema": schema(parameterType(name, of: route), isInput: true),
            ]
        }
        let query = route.queryFields.map { field -> JSONValue in
            [
                "name": .string(field.name), "in": "query",
                "description": .string(field.summary), "schema": schema(field.type, isInput: true),
            ]
        }
        if route.takesRawBody { return path + query + forwardedFields }
        if route.isEventStream {
            let id: JSONValue = [
                "name": "Last-Event-ID", "in": "header",
                "description": "The id of the last event that the reader knows.",
                "schema": text,
            ]
            return path + query + [id]
        }
        guard route.takesIdempotencyKey else { return path + query }
        let keyByteCountMax = ControlLimits.idempotencyKeyByteCountMax
        let key: JSONValue = [
            "name": "Idempotency-Key", "in": "header",
            "description": "1 to 255 visible characters; the same key, the same request.",
            "schema": schema(
                .pattern("[!-~]{1,\(keyByteCountMax)}", byteCountMax: keyByteCountMax)
            ),
        ]
        return path + query + [key]
    }

    private static func parameterType(_ name: String, of route: Route) -> WireFieldType {
        switch name {
        case "id": .uuid
        case "user_id": .userID
        case "from": .number(0...Int64.max)
        case "code": .line
        case "month":
            .pattern("(19[7-9]|[2-9][0-9]{2})[0-9]-(0[1-9]|1[0-2])", byteCountMax: 7)
        case "view": .oneOf(all: SettingsView.self)
        case "identity": route.method == .delete ? .uuid : .name
        default: .name
        }
    }

    /// What the web server hands on besides the body.
    private static var forwardedFields: [JSONValue] {
        NotificationInput.fieldNames.filter { $0 != "content-type" && $0 != "authorization" }.map {
            [
                "name": .string($0), "in": "header",
                "description": "As the provider sent it; see the guide.", "schema": text,
            ]
        }
    }

    /// One event of a stream (https://html.spec.whatwg.org/multipage/server-sent-events.html).
    private static let event: JSONValue = [
        "type": "object", "required": ["id", "event", "data"],
        "properties": [
            "id": text, "event": text,
            "data": [
                "type": "string", "contentMediaType": "application/json",
                "contentSchema": reference(WireEvent.schemaName),
            ],
        ],
    ]

    private static func content(_ type: String, _ schema: JSONValue) -> JSONValue {
        object([(type, ["schema": schema])])
    }

    private static func responses(_ route: Route) -> JSONValue {
        let answer: JSONValue? =
            switch route.answer {
            case .object(let type): content("application/json", reference(type.schemaName))
            case .events: content("text/event-stream", event)
            case .openAPI: content("application/json", ["type": "object"])
            case .metrics: content("text/plain", text)
            case .page: content("text/html", text)
            case .receipt: content("application/json", reference("Receipt"))
            case .nothing: nil
            }
        var success: [(String, JSONValue)] = [("description", .string(route.summary))]
        if let answer { success.append(("content", answer)) }
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
            .map { status, codes -> (String, JSONValue) in
                let names = codes.map(\.rawValue).sorted().joined(separator: ", ")
                return ("\(status)", ["description": .string(names), "content": problem])
            }
        return object([("\(route.successStatus)", object(success))] + failures)
    }
}

extension OpenAPIDocument {
    /// Every documented object, sorted by name.
    package static let types = (wireSchemas + receiptParts).sorted { $0.schemaName < $1.schemaName }

    private static let receiptParts: [WireSchema] = ReceiptFields.parts.map { name, fields in
        WireSchema(schemaName: name, fields: fields)
    }

    /// The objects that routes take and give, and those inside them.
    private static let wireSchemas: [WireSchema] = {
        var found: [String: WireSchema] = [:]
        func add(_ type: any WireObject.Type) {
            guard !type.fields.isEmpty, found[type.schemaName] == nil else { return }
            let input = type as? any WireInputPart.Type
            found[type.schemaName] = WireSchema(
                schemaName: type.schemaName,
                fields: type.fields,
                isInput: input != nil,
                rules: input?.rules ?? []
            )
            for part in type.parts { add(part) }
        }
        add(WireEvent.self)
        add(WireProblem.self)
        for route in RouteTable.routes {
            if let input = route.input { add(input) }
            if case .object(let type) = route.answer { add(type) }
        }
        return Array(found.values)
    }()

    private static var schemas: JSONValue {
        object(
            types.map { type in
                let properties = type.fields.map { field in
                    (field.name, property(field, isInput: type.isInput))
                }
                let required = type.fields.filter(\.isRequired).map { JSONValue.string($0.name) }
                var members: [(String, JSONValue)] = [("type", .string("object"))]
                if !required.isEmpty { members.append(("required", .array(required))) }
                members.append(("properties", object(properties)))
                if type.isInput { members.append(("additionalProperties", false)) }
                members += type.rules.map { ($0.name, $0.value) }
                return (type.schemaName, object(members))
            }
        )
    }

    /// What comes in may be `null` where it may be absent.
    private static func property(_ field: WireField, isInput: Bool) -> JSONValue {
        let type = schema(field.type, isInput: isInput)
        let isNullable = isInput && !field.isRequired
        let schema: JSONValue = isNullable ? ["anyOf": [type, ["type": "null"]]] : type
        guard case .object(let members) = schema else { return .null }
        return .object(members + [JSONValue.Member("description", .string(field.summary))])
    }

    /// What comes in has the bound that ``InputObject`` holds.
    private static func schema(_ type: WireFieldType, isInput: Bool = false) -> JSONValue {
        switch type {
        case .text: text
        case .limited(let counts):
            [
                "type": "string", "minLength": .integer(Int64(counts.lowerBound)),
                "maxLength": .integer(Int64(counts.upperBound)),
                "pattern": "^[^\\u0000-\\u001f\\u007f]*$",
            ]
        case .pattern(let pattern, let byteCountMax):
            [
                "type": "string", "maxLength": .integer(Int64(byteCountMax)),
                "pattern": .string("^\(pattern)$"),
            ]
        case .oneOf(let values):
            ["type": "string", "enum": .array(values.map { JSONValue.string($0) })]
        case .number(let range):
            [
                "type": "integer", "minimum": .integer(range.lowerBound),
                "maximum": .integer(range.upperBound),
            ]
        case .items(let item, let range):
            [
                "type": "array", "items": schema(item, isInput: isInput),
                "minItems": .integer(Int64(range.lowerBound)),
                "maxItems": .integer(Int64(range.upperBound)),
            ]
        case .time: format("date-time", isInput ? type.byteCounts?.upperBound : nil)
        case .uuid: format("uuid", isInput ? type.byteCounts?.upperBound : nil)
        case .secret:
            [
                "type": "string", "format": "password", "writeOnly": true, "minLength": 1,
                "maxLength": .integer(Int64(ControlLimits.secretByteCountMax)),
                "pattern": "^[^\\u0000-\\u001f\\u007f]*$",
            ]
        case .integer: ["type": "integer", "format": "int64"]
        case .boolean: ["type": "boolean"]
        case .choice(let values):
            // Not `enum`: a newer daemon may say more, and readers must not refuse it.
            ["type": "string", "examples": .array(values.map { JSONValue.string($0) })]
        case .object(let name): reference(name)
        case .list(let item): ["type": "array", "items": schema(item)]
        case .counts: ["type": "object", "additionalProperties": ["type": "integer"]]
        }
    }

    private static func format(_ name: String, _ byteCountMax: Int?) -> JSONValue {
        var members: [(String, JSONValue)] = [("type", "string"), ("format", .string(name))]
        if let byteCountMax { members.append(("maxLength", .integer(Int64(byteCountMax)))) }
        return object(members)
    }
}
