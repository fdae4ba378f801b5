import Control

/// Lets the handler of a route answer one request.
struct Dispatcher: Sendable {
    enum Reply: Sendable {
        case answer(ServerAnswer)
        case events(AsyncStream<WireEvent>)
    }

    let backend: any ControlBackend

    /// Answers one request; every failure becomes a problem document.
    func reply(to request: ServerRequest, caller: Caller) async -> Reply {
        let call = RouteCall(
            backend: backend,
            caller: caller,
            values: request.head.match.values,
            query: request.head.query,
            idempotencyKey: request.head.idempotencyKey,
            lastEventID: request.head.lastEventID,
            fields: request.head.fields,
            body: request.body
        )
        let route = request.head.route
        do throws(ControlProblem) {
            switch try await route.handle(call) {
            case .events where request.head.isHead: return .answer(.streamHead)
            case .events(let events): return .events(events)
            case .nothing: return .answer(ServerAnswer(status: route.successStatus))
            case .metrics(let text):
                let type = "text/plain; version=0.0.4; charset=utf-8"
                return .answer(ServerAnswer(status: route.successStatus, type, text))
            case .page(let html, let styleHash):
                var answer = ServerAnswer(status: 200, "text/html; charset=utf-8", html)
                answer.fields = Self.pageFields(styleHash: styleHash)
                return .answer(answer)
            case .json(let object, let location):
                var answer = ServerAnswer(status: route.successStatus, "application/json", object)
                if let location { answer.fields.append(("location", location)) }
                return .answer(answer)
            }
        } catch {
            return .answer(ServerAnswer(error))
        }
    }

    /// The page loads nothing, runs nothing, sends its form to itself and stands in no frame
    /// (https://www.w3.org/TR/CSP3/).
    private static func pageFields(styleHash: String) -> [(name: String, value: String)] {
        [
            (
                "content-security-policy",
                "default-src 'none'; style-src 'sha256-\(styleHash)'; form-action 'self'; "
                    + "base-uri 'none'; frame-ancestors 'none'"
            ), ("x-content-type-options", "nosniff"), ("referrer-policy", "no-referrer"),
        ]
    }

    /// A comment, so that the reader and proxies see that the stream lives.
    static let heartbeat = Array(": alive\n\n".utf8)

    /// One event in the format of server-sent events
    /// (https://html.spec.whatwg.org/multipage/server-sent-events.html).
    static func frame(_ event: WireEvent) -> [UInt8] {
        let head = "id: \(event.sequence)\nevent: \(event.kind)\ndata: "
        return Array(head.utf8) + event.jsonBytes + Array("\n\n".utf8)
    }
}
