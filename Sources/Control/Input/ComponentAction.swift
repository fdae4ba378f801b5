/// What an operator can do to one provider or target.
package enum ComponentAction: String, Sendable, CaseIterable {
    /// Start no new work there.
    case pause
    case resume
    /// Ask it now whether it works: credentials, endpoints, or the live schema.
    case check
}
