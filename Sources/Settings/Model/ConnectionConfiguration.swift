/// How calls to a provider or store are made.
package struct ConnectionConfiguration: Hashable, Sendable {
    package let timeoutConnect: Duration
    package let timeoutTotal: Duration
    /// PEM file of the only certificates to trust; `nil`: the system's.
    package let caFile: String?
    package let allowsPlainHTTP: Bool

    package init(_ section: SettingsSection) {
        timeoutConnect = section.duration("timeout_connect")
        timeoutTotal = section.duration("timeout_total")
        caFile = section.text("ca_file")
        allowsPlainHTTP = section.flag("allow_plain_http")
    }
}
