package import Engine
import Lifecycle

/// A row of `found_keys`.
package struct StoredKeys: Hashable, Sendable {
    /// Where to go on after it.
    package let position: Int64
    package let sealed: SealedKeys
    /// Added by a replay, after the request's end.
    package let isLate: Bool

    init(_ row: SQLRow) throws {
        position = Int64(row.int(0))
        sealed = SealedKeys(
            request: try row.requestID(1),
            name: KeyName(target: TargetName(row.text(2)), key: row.text(3)),
            keyID: row.text(4),
            ownKey: row.blob(5),
            sealedIDs: row.blob(6)
        )
        isLate = row.bool(7)
    }
}
