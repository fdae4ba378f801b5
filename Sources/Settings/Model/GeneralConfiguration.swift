package import Lifecycle

/// The `[requests]` section.
package struct RequestConfiguration: Hashable, Sendable {
    package let gracePeriod: Duration
    package let deadline: Duration
    package let maxDeletionsPerHour: Int
    package let approval: ApprovalPolicy
    package let withoutIdentities: WithoutIdentities
    /// How old the last sign-in of a user may be for a deletion; `nil`: none is asked for.
    package let signInAgeMax: Duration?
    /// From the end of a deletion to each look at its stores, ascending; empty: none.
    package let rechecks: [Duration]
    /// Zero: never.
    package let sampleInterval: Duration
}

/// The `[vault]` section.
package struct VaultConfiguration: Hashable, Sendable {
    package let keyCredential: String
    /// Newest first; never contains `keyCredential`.
    package let retiredKeyCredentials: [String]
    package let lostKeyIDs: [String]
}

/// The `[server]` section.
package struct ServerConfiguration: Hashable, Sendable {
    package let connectionsMax: Int
    /// By name or number, for sockets that the service makes itself; `nil`: its own user alone.
    package let operatorGroup: String?
    package let submitGroup: String?
    package let viewerGroup: String?
}

/// The `[journal]` section.
package struct JournalConfiguration: Hashable, Sendable {
    package let level: JournalLevel
}

/// How important a written message must be; names as in syslog(3), but `info`.
package enum JournalLevel: String, Sendable, CaseIterable {
    case debug, info, notice, warning, error
}

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

/// What `keyed_by` says: `STORE.KEY`.
package struct KeyReference: Hashable, Sendable, CustomStringConvertible {
    package let store: StoreName
    package let key: String

    package init?(_ text: String) {
        let names = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard names.count == 2, names.allSatisfy(TextRule.name.accepts) else { return nil }
        (store, key) = (StoreName(names[0]), names[1])
    }

    package var description: String { "\(store).\(key)" }
}
