import Lifecycle

/// What the service sends on its own.
extension RouteTable {
    static let messages: [Route] = [
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
    ]
}
