import Lifecycle

/// Every route of the control API with its handler, sorted by path and then by method.
package enum RouteTable {
    package static let routes: [Route] =
        (components + daemon + requests + rest + users + verbs)
        .sorted { ($0.pattern, $0.method.rawValue) < ($1.pattern, $1.method.rawValue) }

    /// The row of one operation; every operation has exactly one, which a test holds.
    package static func route(_ operation: Operation) -> Route {
        guard let route = byOperation[operation] else {
            preconditionFailure("no route for \(operation)")
        }
        return route
    }

    private static let byOperation = Dictionary(
        routes.map { ($0.operation, $0) },
        uniquingKeysWith: { first, _ in first }
    )
}

/// The status page, messages that the service sends on its own, and reports of months.
extension RouteTable {
    static let rest: [Route] = [
        .bare(
            .showPage,
            "/",
            "The status page, for a browser behind a reverse proxy.",
            .page,
            isViewable: true,
            problems: [.malformedQuery]
        ) { call throws(ControlProblem) in
            let page = try await StatusPage(
                call.backend,
                PageQuery(call.query),
                caller: call.caller
            )
            return .page(Array(page.html.utf8), styleHash: StatusPage.styleHash)
        },
        .get(
            .listMessages,
            "/v1/messages",
            "The messages to subscribers and by mail, the newest first.",
            problems: [.malformedQuery]
        ) { call throws(ControlProblem) in
            try await call.backend.messages(MessageQuery(query: call.query), caller: call.caller)
        },
        .verb(
            .redeliverMessage,
            "/v1/messages/{message_id}/redeliver",
            "Deliver a message again; a confirmation only while it waits.",
            problems: [.messageNotFound, .wrongState]
        ) { call throws(ControlProblem) in
            guard let id = MessageID(call.values[0]) else {
                throw ControlProblem(.messageNotFound)
            }
            return try await call.backend.redeliver(id, caller: call.caller)
        },
        .view(
            .showReport,
            "/v1/reports/{month}",
            "The report of a calendar month, without personal data.",
            problems: [.malformedField, .malformedQuery]
        ) { call throws(ControlProblem) in
            guard let month = CalendarMonth(call.values[0]) else {
                throw ControlProblem(.malformedField, "a month is a text such as 2026-11")
            }
            return try await call.backend.report(
                month,
                timeZone: ReportQuery(query: call.query).timeZone,
                caller: call.caller
            )
        },
    ]
}
