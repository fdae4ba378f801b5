package import Engine
import Lifecycle

enum FoundKeyColumn: Int32, Columns {
    case id, requestID, target, name, keyID, ownKey, sealedIDs, hashes, isLate

    static let selection = makeSelection()
    /// The database numbers the rows; without a value for `is_late` the end of the request decides.
    static let insertion = """
        INSERT INTO found_keys (\(names(of: Array(allCases.dropFirst()))))
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7,
          coalesce(?8, (SELECT CASE WHEN ended_at IS NULL THEN 0 ELSE 1 END FROM requests
            WHERE id = ?1), 1))
        """
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
