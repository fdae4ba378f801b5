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
        /// A JSON document with these members; it may be large.
        case document(any WireObject.Type)
        /// Server-sent events, each with one ``WireEvent``.
        case events
        case metrics
        /// The OpenAPI document.
        case openAPI
        case nothing
    }

    package let operation: Operation
    package let method: Method
    /// The path with its parameters in braces.
    package let pattern: String
    /// The least role that may call it.
    package let role: ControlRole
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

    /// Whether `Idempotency-Key` means something here.
    package var takesIdempotencyKey: Bool { operation == .submitRequest }

    /// Whether the body is anything at all, and header fields of ``NotificationInput`` go with it.
    package var takesRawBody: Bool { operation == .takeNotification }

    /// Whether stores are asked for a plan first, which may take minutes.
    package var makesPlan: Bool { operation == .makePlan || operation == .approveRequest }

    /// Whether the answer may be much larger than a request: a list, a document, metrics.
    package var hasLargeAnswer: Bool {
        switch answer {
        case .events, .nothing: false
        case .document, .metrics, .openAPI: true
        case .object:
            method == .get && operation != .showRequest && operation != .status
                && operation != .health
        }
    }

    package var isEventStream: Bool {
        if case .events = answer { true } else { false }
    }

    package var queryFields: [WireField] {
        operation == .listRequests ? WireRequestFilter.fields : []
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
