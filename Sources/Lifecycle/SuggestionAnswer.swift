/// Rules for a store, made from its schema.
package enum SuggestionAnswer: Hashable, Sendable {
    /// `[[store.table]]` sections as TOML, with comments; names of the schema, and no user's data.
    case rules(String)
    /// Why there are none, for an operator; without personal data.
    case refused(String)
    case failure(EffectFailure)
}
