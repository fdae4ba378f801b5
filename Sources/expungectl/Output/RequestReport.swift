import Control
import Lifecycle

enum RequestReport {
    /// One line of state: `parked (needs_reauthentication)` or `purging (blocked)`.
    static func state(_ request: WireRequest) -> String {
        let reason = request.detail ?? request.blockedBy.map { _ in "blocked" }
        return reason.map { "\(request.state) (\($0))" } ?? "\(request.state)"
    }

    static func full(_ request: WireRequest) -> String {
        var facts = Table("request", request.id.description)
        facts.add("kind", request.kind.description)
        if let user = request.userID { facts.add("user", user) }
        facts.add("state", state(request))
        facts.add("created", LocalTime.distant(request.createdAt))
        facts.add("updated", LocalTime.distant(request.updatedAt))
        if let time = request.acceptedAt { facts.add("accepted", LocalTime.distant(time)) }
        if let time = request.deadlineAt { facts.add("deadline", LocalTime.distant(time)) }
        if let time = request.nextAt { facts.add("next", LocalTime.distant(time)) }
        var parts = [facts.text]
        let advice = RequestAdvice(request).lines
        if !advice.isEmpty { parts.append(advice.map(Table.harmless).joined(separator: "\n")) }
        if !request.identities.isEmpty { parts.append(identities(request.identities)) }
        for identity in request.identities {
            guard let action = identity.userAction else { continue }
            parts.append(
                Table.harmless("\(identity.provider): \(action.text) \(action.url)")
            )
        }
        let later = RequestAdvice(request).knownLater
        if !later.isEmpty { parts.append(later.map(Table.harmless).joined(separator: "\n")) }
        if !request.steps.isEmpty { parts.append(steps(request.steps)) }
        return parts.joined(separator: "\n\n")
    }

    static func list(
        _ requests: [WireRequest],
        within columnCount: Int = max(80, Console.size.columns)
    ) -> String {
        let now = LocalTime.now
        let idLength = shortLength(of: requests.map(\.id))
        var table = Table("ID", "KIND", "USER", "STATE", "AGE", "CREATED")
        for request in requests {
            table.add([
                String(request.id.description.prefix(idLength)), kind(request),
                request.userID?.hasPrefix("erased:") == true ? "(erased)" : request.userID,
                state(request),
                LocalTime.span(now.since(request.createdAt)),
                LocalTime.short(request.createdAt, now: now),
            ])
        }
        return table.text(within: columnCount, shrinking: [(2, 8), (3, 16)])
    }

    /// As short as they are unique.
    private static func shortLength(of ids: [RequestID]) -> Int {
        [RequestID.shortLength, 23].first { length in
            Set(ids.map { $0.description.prefix(length) }).count == Set(ids).count
        } ?? 36
    }

    private static func kind(_ request: WireRequest) -> String {
        switch request.kind.known {
        case .deleteAccount: "delete"
        case .revokeTokens: "revoke"
        case nil: request.kind.description
        }
    }

    static func identities(_ identities: [WireIdentity]) -> String {
        var table = Table("IDENTITY", "PROVIDER", "CLIENT", "STATE", "VERDICT")
        for identity in identities {
            table.add([
                identity.identityID.description, identity.provider, identity.clientID,
                identity.state.description, identity.verdict?.description,
            ])
        }
        return table.text
    }

    private static func steps(_ steps: [WireStep]) -> String {
        var table = Table([
            "STEP", "STATE", "CALLS", "VERDICT", "STARTED", "TOOK", "NEXT TRY", "LAST ERROR",
        ])
        for step in steps {
            table.add([
                step.name, step.state.description, "\(step.attempts)", step.verdict,
                step.startedAt.map(LocalTime.full),
                step.durationMilliseconds.map { ReportText.duration($0) },
                step.retryAt.map(LocalTime.full),
                error(of: step),
            ])
        }
        return table.text
    }

    /// Without the words of a provider, which make no column.
    private static func error(of step: WireStep) -> String? {
        let answer = step.answer?.answer.withoutWords
        guard let error = step.lastError else { return answer?.text }
        return step.obstacle.map { "\(error): \($0)" } ?? answer?.added(to: error) ?? error
    }
}
