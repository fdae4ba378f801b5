/// What an operator can do to one provider or target.
package enum ComponentAction: String, Sendable, CaseIterable {
    /// Ask it now whether it works: credentials, endpoints, or the live schema.
    case check
    /// Start no new work there.
    case pause
    case resume

    package var providerOperation: Operation {
        switch self {
        case .check: .checkProvider
        case .pause: .pauseProvider
        case .resume: .resumeProvider
        }
    }

    package var targetOperation: Operation {
        switch self {
        case .check: .checkTarget
        case .pause: .pauseTarget
        case .resume: .resumeTarget
        }
    }
}
