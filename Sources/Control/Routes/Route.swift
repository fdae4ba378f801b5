import Encoding

/// One row of the route table: the single source for server, client, OpenAPI and api(7).
package struct Route: Sendable {
    /// The methods that the API uses.
    package enum Method: String, Sendable, CaseIterable {
        case delete = "DELETE"
        case get = "GET"
        case post = "POST"
        case put = "PUT"
    }

    /// What a success answers with.
    package enum Answer: Sendable {
        case object(any WireObject.Type)
        /// Its JSON is as the ledger has its digest; it may be large.
        case receipt
        /// Server-sent events, each with one ``WireEvent``.
        case events
        case metrics
        case openAPI
        case page
        case nothing
    }

    package let operation: Operation
    package let method: Method
    /// The path with its parameters in braces.
    package let pattern: String
    /// Who may call it besides operators, who may call everything.
    package let role: ControlRole
    /// Whether viewers may call it, too; the answer to them has no personal data.
    package let isViewable: Bool
    package let summary: String
    package let input: (any WireObject.Type)?
    package let answer: Answer
    package let successStatus: Int
    /// The problems of its own; every route may also answer the ones of ``commonProblems``.
    package let problems: [ControlProblem.Code]
    /// Reads the input and asks the backend; throws before it asks when the input is malformed.
    package let handle: Handler

    /// Answers one call.
    package typealias Handler = @Sendable (RouteCall) async throws(ControlProblem) -> RouteReply

    /// The roles that may call it, the least first.
    package var roles: [ControlRole] { ControlRole.allCases.filter(allows) }

    package func allows(_ role: ControlRole) -> Bool {
        switch role {
        case .viewer: isViewable
        case .submit: self.role == .submit
        case .operator: true
        }
    }

    /// Whether `Idempotency-Key` means something here.
    package var takesIdempotencyKey: Bool { operation == .submitRequest }

    /// Whether the body is anything at all, and header fields of ``NotificationInput`` go with it.
    package var takesRawBody: Bool { operation == .takeNotification }

    /// Whether the answer may take minutes: stores are asked for a plan, for rules or for what has
    /// none, or a month of very many requests is counted.
    package var takesLong: Bool {
        switch operation {
        case .makePlan, .approveRequest, .checkStore, .showReport, .suggestRules: true
        default: false
        }
    }

    /// Whether the answer may be much larger than a request: a list, a document, metrics.
    package var hasLargeAnswer: Bool {
        switch answer {
        case .events, .nothing: false
        case .metrics, .openAPI, .page, .receipt: true
        case .object:
            method == .get && operation != .showRequest && operation != .status
                && operation != .health
        }
    }

    package var isEventStream: Bool {
        if case .events = answer { true } else { false }
    }

    package var queryFields: [WireField] {
        switch operation {
        case .listRequests: WireRequestFilter.fields
        case .listMessages: MessageQuery.fields
        case .showPage: PageQuery.fields
        case .showReport: ReportQuery.fields
        default: []
        }
    }

    /// The names of the parameters of the path, in order.
    package var parameterNames: [String] {
        pattern.split(separator: "/").filter { $0.hasPrefix("{") }.map {
            String($0.dropFirst().dropLast())
        }
    }

    /// What every route may answer, whatever was asked.
    package static let commonProblems: [ControlProblem.Code] = [
        .forbidden, .headersTooLarge, .internal, .malformedHTTP, .requestTimeout,
        .tooManyConnections, .unavailable,
    ]

    /// The path with its parameters filled in order, and encoded.
    package func path(_ values: [String]) -> String {
        var values = values[...]
        return pattern.split(separator: "/", omittingEmptySubsequences: false).map { segment in
            guard segment.hasPrefix("{"), let value = values.popFirst() else {
                return String(segment)
            }
            return PercentEncoding.encode(value)
        }.joined(separator: "/")
    }
}

/// What a handler answers with.
package enum RouteReply: Sendable {
    /// One JSON object, and the path of what it created.
    case json([UInt8], location: String? = nil)
    case metrics([UInt8])
    /// A web page; it may load nothing, and use only the style with the hash `styleHash`.
    case page([UInt8], styleHash: String)
    case events(AsyncStream<WireEvent>)
    case nothing

    static func object(_ object: some WireObject, location: String? = nil) -> RouteReply {
        .json(object.jsonBytes, location: location)
    }
}
