import Control
import Lifecycle
import Logging
import Storage

extension DaemonBackend {
    func messages(
        _ query: MessageQuery,
        caller: Caller
    ) async throws(ControlProblem) -> WireList<WireMessage> {
        let found = try await attempt("messages") {
            try await parts.state.messages(
                before: query.cursor?.sequence,
                isWaiting: query.isWaiting ? true : nil,
                limit: MessageQuery.pageSize
            )
        }
        let isFull = found.count == MessageQuery.pageSize
        return WireList(
            found.map(WireMessage.init),
            nextCursor: isFull ? found.last?.id.description : nil
        )
    }

    func redeliver(_ id: MessageID, caller: Caller) async throws(ControlProblem) -> WireMessage {
        let found = try await attempt("redeliver_message") {
            try await parts.state.redeliver(id, at: parts.now())
        }
        guard let found else { throw ControlProblem(.messageNotFound) }
        guard found.dueAt != nil else {
            throw ControlProblem(.wrongState, "the address of the user is destroyed")
        }
        parts.logger.note(
            .operatorAction,
            [
                "peer.uid": "\(caller.operatorUID ?? caller.uid)", "step": "redeliver_message",
                "detail": "\(id)",
            ]
        )
        return WireMessage(found)
    }
}

extension WireMessage {
    init(_ record: MessageRecord) {
        let state: MessageState =
            if record.dueAt != nil {
                .waiting
            } else {
                record.isDelivered ? .delivered : .givenUp
            }
        self.init(
            id: record.id,
            subscriber: record.subscriber.rawValue,
            type: "\(record.topic.rawValue).\(record.subject)",
            occurredAt: record.occurredAt,
            state: state,
            attempts: record.attempts
        )
        requestID = record.request
        attemptedAt = record.attemptedAt
        nextAttemptAt = record.dueAt
        httpStatus = record.status
        error = record.lastFailure
    }
}
