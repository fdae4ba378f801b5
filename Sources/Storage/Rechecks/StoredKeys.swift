package import Engine
import Lifecycle

/// The columns of `found_keys` that are read.
enum FoundKeyColumn: Int32, Columns {
    case id, requestID, target, name, keyID, ownKey, sealedIDs, isLate

    static let selection = makeSelection()
}

/// A row of `found_keys`.
package struct StoredKeys: Hashable, Sendable {
    /// Where to go on after it.
    package let position: Int64
    package let sealed: SealedKeys
    /// Added by a replay, after the request's end.
    package let isLate: Bool

    init(_ row: Row<FoundKeyColumn>) throws {
        position = row.int64(.id)
        sealed = SealedKeys(
            request: try row.requestID(.requestID),
            name: KeyName(target: row.target(.target), key: row.text(.name)),
            keyID: row.text(.keyID),
            ownKey: row.blob(.ownKey),
            sealedIDs: row.blob(.sealedIDs)
        )
        isLate = row.bool(.isLate)
    }
}
