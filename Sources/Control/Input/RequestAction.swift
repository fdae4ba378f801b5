package import Lifecycle

/// What an operator can do to one request.
package enum RequestAction: Sendable, Hashable {
    /// Stop it, as long as nothing irreversible was decided.
    case cancel
    /// Try whatever waits for a timer, a pause or an operator again, now, and recheck data that
    /// returned.
    case retry
    /// Stop before the next step until `release`; `reason` is the operator's own short note.
    case hold(reason: String?)
    case release
    case approve(plan: String)
    /// Give up on revoking: every identity without a verdict (of `provider`, if named) becomes
    /// `abandoned`, with the reason on the receipt.
    case abandon(reason: String, provider: ProviderName?)

    package var verb: String {
        switch self {
        case .cancel: "cancel"
        case .retry: "retry"
        case .hold: "hold"
        case .release: "release"
        case .approve: "approve"
        case .abandon: "abandon"
        }
    }
}

/// The body of a route that takes nothing: no body, or an object without members.
package struct EmptyInput: WireInput {
    package static let members: [WireMember<EmptyInput>] = []

    /// Reads a body.
    package init(body: [UInt8]) throws(ControlProblem) {
        _ = try InputObject(body: body, fields: Self.fields)
    }
}

/// The body of `hold`: why.
package struct ReasonInput: WireInput, Hashable {
    package var reason: String?

    package init(reason: String? = nil) { self.reason = reason }

    package static let members: [WireMember<ReasonInput>] = [
        .field("reason", \.reason, as: .reason, "Why, 1 to 200 bytes, no personal data.")
    ]

    /// Reads a body.
    package init(body: [UInt8]) throws(ControlProblem) {
        reason = try InputObject(body: body, fields: Self.fields).text("reason")
    }
}

/// The body of `approve`: which plan.
package struct ApproveInput: WireInput, Hashable {
    package var plan: String

    package init(plan: String) { self.plan = plan }

    package static let members: [WireMember<ApproveInput>] = [
        .field("plan", \.plan, as: .line, "The hash of the plan that is approved.")
    ]

    /// Reads a body.
    package init(body: [UInt8]) throws(ControlProblem) {
        plan = try InputObject(body: body, fields: Self.fields).requiredText("plan")
    }
}

/// The body of `abandon`: why, and at which provider.
package struct AbandonInput: WireInput, Hashable {
    package var reason: String
    package var provider: ProviderName?

    package init(reason: String, provider: ProviderName? = nil) {
        (self.reason, self.provider) = (reason, provider)
    }

    package static let members: [WireMember<AbandonInput>] = [
        .field("reason", \.reason, as: .reason, "Why, 1 to 200 bytes, no personal data."),
        .field("provider", \.provider, as: .name, "Give up on this provider alone."),
    ]

    /// Reads a body.
    package init(body: [UInt8]) throws(ControlProblem) {
        let object = try InputObject(body: body, fields: Self.fields)
        reason = try object.requiredText("reason")
        provider = try object.provider("provider")
    }
}
