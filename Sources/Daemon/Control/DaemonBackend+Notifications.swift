import Control
import Engine
import Lifecycle
import Logging
import Providers
import Settings
import Storage

extension DaemonBackend {
    /// Taken while the intake is paused, too: the provider does not come again.
    func takeNotification(
        _ input: NotificationInput,
        provider: ProviderName,
        caller: Caller
    ) async throws(ControlProblem) -> WireNotification {
        let adapters = parts.registry.current
        guard adapters.configuration.providers.contains(where: { $0.name == provider }) else {
            throw ControlProblem(.unknownProvider)
        }
        guard let receiver = adapters.receivers[provider] else {
            throw ControlProblem(.notificationsOff)
        }
        let receivedAt = parts.now()
        let incoming = IncomingNotification(
            body: input.body,
            fields: input.fields,
            receivedAt: receivedAt
        )
        let verified: VerifiedNotification
        do {
            verified = try await receiver.verify(incoming)
        } catch {
            parts.notifications.refused(error)
            guard error.kind != .keysUnavailable else {
                throw ControlProblem(.unavailable, "the provider's keys cannot be read now")
            }
            return WireNotification(
                status: error.answer.status,
                contentType: error.answer.contentType,
                body: error.answer.body,
                effect: .refused,
                reason: error.kind.rawValue,
                requestID: nil
            )
        }
        let result = try await attempt("notification") {
            try await parts.notifications.take(
                verified,
                of: provider,
                at: receivedAt,
                from: NotificationSource(uid: caller.uid, role: caller.role.rawValue)
            )
        }
        return WireNotification(
            status: result.answer.status,
            contentType: result.answer.contentType,
            body: result.answer.body,
            effect: result.effect,
            reason: nil,
            requestID: result.requestID
        )
    }

    func notificationStatus(
        _ code: String,
        provider: ProviderName,
        caller: Caller
    ) async throws(ControlProblem) -> WireNotificationStatus {
        let providers = parts.registry.current.configuration.providers
        guard providers.contains(where: { $0.name == provider }) else {
            throw ControlProblem(.unknownProvider)
        }
        let found = try await attempt("notification_status") {
            try await parts.state.notification(code: code, of: provider)
        }
        guard let notification = found else { throw ControlProblem(.notificationNotFound) }
        var completedAt: WallTime?
        var state = Self.state(of: notification.effect)
        if state == .inProgress, let id = notification.requestID {
            let request = try await record(id).request
            if request.phase == .completed { (state, completedAt) = (.completed, request.endedAt) }
            if request.phase == .cancelled { state = .needsAttention }
        }
        return WireNotificationStatus(
            confirmationCode: code,
            state: state,
            text: Self.text(of: state),
            receivedAt: notification.receivedAt,
            completedAt: completedAt
        )
    }

    private static func state(of effect: NotificationEffect?) -> WireNotificationStatus.State {
        switch effect {
        case nil, .postponed: .received
        case .deletionRequested, .deletionOpen: .inProgress
        case .echo: .completed
        case .unknownSubject, .stale, .noted, .linkUpdated, .hinted, .refused: .nothingToDo
        case .reported, .sharedIdentity: .needsAttention
        }
    }

    private static func text(of state: WireNotificationStatus.State) -> String {
        switch state {
        case .received: "Your request was received and waits to be worked on."
        case .inProgress: "Your account and its data are being deleted."
        case .completed: "Your account and its data were deleted."
        case .nothingToDo: "No account is linked to this login, so there is nothing to delete."
        case .needsAttention:
            "Your request was received. A person has to check it: please contact support."
        }
    }

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
            nextCursor: isFull ? found.last?.message.id.description : nil
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
        audit("redeliver_message", caller, ["detail": "\(id)"])
        return WireMessage(found)
    }
}

extension WireMessage {
    init(_ record: MessageRecord) {
        let ended: MessageState = record.isDelivered ? .delivered : .givenUp
        self.init(
            id: record.message.id,
            subscriber: record.subscriber.rawValue,
            type: record.message.type,
            occurredAt: record.message.occurredAt,
            state: record.dueAt == nil ? ended : .waiting,
            attempts: record.attempts
        )
        requestID = record.message.request
        attemptedAt = record.attemptedAt
        nextAttemptAt = record.dueAt
        httpStatus = record.status
        error = record.lastFailure
    }
}
