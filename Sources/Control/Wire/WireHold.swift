import Encoding
package import Lifecycle

/// A hold on a store, on rows of it, or on a user.
package struct WireHold: WireObject, Codable, Hashable {
    package var name: String
    package var store: String?
    package var table: String?
    package var conditions: [String]
    package var reason: String?
    package var since: WallTime
    package var uid: Int64?

    package init(_ hold: StoreHold) {
        name = hold.name
        store = hold.store.rawValue
        table = hold.rows?.table
        conditions = hold.rows.map(HoldInput.texts(of:)) ?? []
        reason = hold.reason
        since = hold.since
        uid = Int64(hold.uid)
    }

    /// Of the user with this keyed hash.
    package init(userHash: [UInt8], reason: String?, since: WallTime, uid: UInt32?) {
        name = Self.name(ofUser: userHash)
        conditions = []
        (self.reason, self.since, self.uid) = (reason, since, uid.map { Int64($0) })
    }

    private static let userPrefix = "user."

    /// The hash is written as in the ledger.
    package static func name(ofUser userHash: [UInt8]) -> String {
        userPrefix + Base64URL.text(userHash)
    }

    /// The keyed hash of the user whose hold has this name; `nil` for the name of another hold.
    package static func userHash(ofHold name: String) -> [UInt8]? {
        guard name.hasPrefix(userPrefix) else { return nil }
        let hash = Base64URL.decode(name.utf8.dropFirst(userPrefix.utf8.count))
        // HMAC-SHA256.
        return hash?.count == 32 ? hash : nil
    }

    enum CodingKeys: String, CodingKey {
        case name, store, table, reason, since, uid
        case conditions = "where"
    }

    package static let members: [WireMember<WireHold>] = [
        .field("name", \.name, "By which it is lifted."),
        .field("store", \.store, "The store that is held; absent for a hold on a user."),
        .field("table", \.table, "The table with held rows; without it all of the store."),
        .field("where", \.conditions, "Which rows, as COLUMN=VALUE; not for viewers."),
        .field("reason", \.reason, "Why; not for viewers."),
        .field("since", \.since, "Since when."),
        .field("uid", \.uid, "Login uid of the operator; not for viewers."),
    ]
}

/// The legal hold on one user.
package struct WireUserHold: WireObject, Codable, Hashable {
    package var name: String
    package var isHeld: Bool
    package var since: WallTime?
    package var requestIDs: [RequestID]

    package init(name: String, isHeld: Bool, since: WallTime?, requestIDs: [RequestID] = []) {
        (self.name, self.isHeld, self.since, self.requestIDs) = (name, isHeld, since, requestIDs)
    }

    enum CodingKeys: String, CodingKey {
        case name, since, requestIDs
        case isHeld = "held"
    }

    package static let members: [WireMember<WireUserHold>] = [
        .field("name", \.name, "By which it is listed and released."),
        .field("held", \.isHeld, "Whether the user is on hold."),
        .field("since", \.since, "Since when."),
        .field("request_ids", \.requestIDs, "The open requests that it stops."),
    ]
}
