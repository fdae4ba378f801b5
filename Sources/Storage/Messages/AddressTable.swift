package import Engine
package import Lifecycle

/// Where users get their confirmations.
struct AddressTable {
    /// What the seal names beside its id; no store has an empty name.
    static let name = KeyName(store: StoreName(""), key: "notify_email")

    enum Column: Int32, Columns {
        case requestID, sealID, keyID, ownKey, sealed, language

        static let selection = makeSelection()
        static let insertion = insertion(of: allCases, into: "addresses")
    }

    let database: any StateConnection

    func insert(_ address: SealedAddress, of request: RequestID) throws {
        try database.run(
            Column.insertion,
            Column.row([
                .requestID: .id(request), .sealID: .id(address.keys.request),
                .keyID: .text(address.keys.keyID), .ownKey: .blob(address.keys.ownKey),
                .sealed: .blob(address.keys.sealedIDs),
                .language: .text(address.language.rawValue),
            ])
        )
    }

    func find(_ request: RequestID) throws -> SealedAddress? {
        try database.first(
            Column.self,
            "FROM addresses WHERE request_id = ?",
            [.id(request)],
            body: Self.read
        )?.address
    }

    static func read(_ row: Row<Column>) throws -> StoredAddress {
        StoredAddress(
            request: try row.requestID(.requestID),
            address: SealedAddress(
                keys: SealedKeys(
                    request: try row.requestID(.sealID),
                    name: name,
                    keyID: row.text(.keyID),
                    ownKey: row.blob(.ownKey),
                    sealedIDs: row.blob(.sealed)
                ),
                language: try row.choice(.language, as: MessageLanguage.self)
            )
        )
    }
}

/// A row of `addresses`.
package struct StoredAddress: Hashable, Sendable {
    package let request: RequestID
    package let address: SealedAddress
}

extension StateDatabase {
    /// What the address of a confirmation is sealed as, bound to `id`.
    package static func addressKeys(_ address: MailAddress, id: RequestID) -> FoundKeys? {
        UserID(address.text).map { FoundKeys(request: id, name: AddressTable.name, ids: [$0]) }
    }

    /// `nil` once the message is gone, or was never wanted.
    package func address(of request: RequestID) async throws -> SealedAddress? {
        try await read { try AddressTable(database: $0).find(request) }
    }

    /// A page of the addresses that need one vault key.
    package func addresses(
        under keyID: String,
        after request: RequestID?,
        limit: Int
    ) async throws -> [StoredAddress] {
        try await all(
            AddressTable.Column.self,
            """
            FROM addresses INDEXED BY addresses_key
            WHERE key_id = ? AND request_id > ? ORDER BY request_id LIMIT ?
            """,
            [.text(keyID), .after(request), .int(limit)],
            body: AddressTable.read
        )
    }

    /// Replaces addresses by newly sealed ones in one commit and returns how many; lost ones stay
    /// lost.
    package func replaceAddresses(
        _ fresh: [(old: StoredAddress, new: SealedKeys)]
    ) async throws -> Int {
        try await change(
            fresh,
            """
            UPDATE addresses SET key_id = ?, own_key = ?, sealed = ?
            WHERE request_id = ? AND own_key = ?
            """
        ) { $0.new.values + [.id($0.old.request), .blob($0.old.address.keys.ownKey)] }
    }
}
