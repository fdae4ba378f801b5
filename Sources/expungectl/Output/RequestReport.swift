import Control
import Lifecycle

/// A request as people read it.
enum RequestReport {
    /// One line of state: `parked (needs_reauthentication)`.
    static func state(_ request: WireRequest) -> String {
        request.detail.map { "\(request.state) (\($0))" } ?? "\(request.state)"
    }

    static func full(_ request: WireRequest) -> String {
        var facts = Table("request", request.id.description)
        facts.add("kind", request.kind.description)
        facts.add("user", request.userID)
        facts.add("state", state(request))
        facts.add("created", request.createdAt.rfc3339)
        facts.add("updated", request.updatedAt.rfc3339)
        if let time = request.acceptedAt { facts.add("accepted", time.rfc3339) }
        if let time = request.deadlineAt { facts.add("deadline", time.rfc3339) }
        if let time = request.nextAt { facts.add("next", time.rfc3339) }
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

    static func list(_ requests: [WireRequest]) -> String {
        var table = Table("ID", "KIND", "USER", "STATE", "UPDATED")
        for request in requests {
            table.add([
                request.id.description, request.kind.description, request.userID, state(request),
                request.updatedAt.rfc3339,
            ])
        }
        return table.text
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
            "STEP", "STATE", "ATTEMPTS", "VERDICT", "STARTED", "TOOK", "NEXT TRY", "LAST ERROR",
        ])
        for step in steps {
            table.add([
                step.name, step.state.description, "\(step.attempts)", step.verdict,
                step.startedAt?.rfc3339, step.durationMilliseconds.map { "\($0) ms" },
                step.retryAt?.rfc3339,
                step.lastError.map { code in step.obstacle.map { "\(code): \($0)" } ?? code },
            ])
        }
        return table.text
    }
}
