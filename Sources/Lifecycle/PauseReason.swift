/// Why a provider or a store is paused, where no call has failed.
package enum PauseReason {
    package static let byOperator = "operator"
    /// The service could not set it up with its configuration.
    package static let notSetUp = "not_set_up"
}
