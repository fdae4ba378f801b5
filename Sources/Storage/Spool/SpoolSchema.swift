import Engine
import GRDB

/// The public schema of the spool, a contract with every application.
///
/// docs/guides/spool-reference.md shows it.
enum SpoolSchema {
    /// `PRAGMA user_version` of this schema.
    static let version = 1

    private static let userIDCheck = """
        CHECK (length(CAST(user_id AS BLOB)) BETWEEN 1 AND 255 AND instr(user_id, char(0)) = 0
                            AND NOT user_id GLOB '*[' || char(1) || '-' || char(31) \
        || char(127) || ']*')
        """

    static let meta = "CREATE TABLE spool_meta (spool_id TEXT NOT NULL) STRICT"

    static let requests = """
        CREATE TABLE requests (
          id              INTEGER PRIMARY KEY AUTOINCREMENT,
          kind            TEXT NOT NULL CHECK (kind IN ('delete_account', 'revoke_tokens')),
          user_id         TEXT NOT NULL \(userIDCheck),
          idempotency_key TEXT UNIQUE CHECK (length(idempotency_key) <= 255),
          options         TEXT NOT NULL DEFAULT '{}' CHECK (length(options) <= 4096 \
        AND json_type(options) = 'object'),
          created_at      TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
          -- output only, written by expunged, never read back:
          request_id      TEXT,
          state           TEXT NOT NULL DEFAULT 'submitted',
          detail          TEXT,
          updated_at      TEXT
        ) STRICT
        """

    static let credentials = """
        CREATE TABLE credentials (           -- inbox: sealed into the vault, then scrubbed
          id                 INTEGER PRIMARY KEY AUTOINCREMENT,
          user_id            TEXT NOT NULL \(userIDCheck),
          provider           TEXT NOT NULL,
          client_id          TEXT,           -- required when the provider has several
          subject            TEXT,
          kind               TEXT NOT NULL CHECK (kind IN ('authorization_code', \
        'refresh_token', 'access_token', 'id_token', 'subject')),
          secret             TEXT CHECK (length(secret) <= 8192),
          redirect_uri       TEXT,           -- of the authorize request; empty if it had none
          code_verifier      TEXT,
          raw_nonce          TEXT,
          created_at         TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
          state              TEXT NOT NULL DEFAULT 'submitted',   -- sealed, rejected: output only
          detail             TEXT
        ) STRICT
        """

    /// Compares the tables with the contract, and counts objects that are not ours.
    ///
    /// Whitespace, comments and letter case do not count, so a file made by another program from
    /// the documented text passes.
    ///
    /// - Throws: `SpoolFailure.wrongSchema`, or `DatabaseError`.
    static func check(_ database: Database) throws -> Int {
        let expected = [
            "spool_meta": normalized(meta), "requests": normalized(requests),
            "credentials": normalized(credentials),
        ]
        var found: Set<String> = []
        var foreignCount = 0
        try database.each("SELECT type, name, sql FROM sqlite_schema") { row in
            let (type, name) = (row.text("type"), row.text("name"))
            if type == "table", let text = expected[name] {
                guard normalized(row.text("sql")) == text else {
                    throw SpoolFailure.wrongSchema
                }
                found.insert(name)
            } else if !name.hasPrefix("sqlite_") {
                foreignCount += 1
            }
        }
        guard found.count == expected.count else { throw SpoolFailure.wrongSchema }
        return foreignCount
    }

    /// The text without comments, without whitespace outside of literals, in lower case.
    static func normalized(_ sql: String) -> String {
        var result: [UInt8] = []
        var rest = Array(sql.utf8)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "'"), UInt8(ascii: "\""):
                result.append(byte)
                while let inner = rest.popFirst() {
                    result.append(inner)
                    if inner == byte { break }
                }
            case UInt8(ascii: "-") where rest.first == UInt8(ascii: "-"):
                rest = rest.drop { $0 != UInt8(ascii: "\n") }
            case UInt8(ascii: "/") where rest.first == UInt8(ascii: "*"):
                rest = afterComment(rest.dropFirst())
            case 0x09, 0x0a, 0x0c, 0x0d, 0x20:
                continue
            case 0x41...0x5a:
                result.append(byte | 0x20)
            default:
                result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func afterComment(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var rest = text
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "*"), rest.first == UInt8(ascii: "/") {
                return rest.dropFirst()
            }
        }
        return rest
    }
}

extension SpoolTable {
    private var selection: String { "id, " + inputColumns.joined(separator: ", ") }

    /// The last id of the next rows: `?1` is the first id, `?2` how many.
    var boundSQL: String {
        "SELECT max(id) FROM (SELECT id FROM \(rawValue) WHERE id >= ?1 ORDER BY id LIMIT ?2)"
    }

    /// Submitted rows from `?1` to `?2`, at most `?3`.
    var submittedSQL: String {
        """
        SELECT \(selection) FROM \(rawValue)
        WHERE id >= ?1 AND id <= ?2 AND state = 'submitted' ORDER BY id LIMIT ?3
        """
    }

    var idsSQL: String {
        "SELECT id FROM \(rawValue) WHERE id >= ?1 AND id <= ?2 ORDER BY id"
    }

    var rowSQL: String {
        switch self {
        case .credentials: Self.credentialSQL
        case .requests: Self.requestSQL
        }
    }

    private static let credentialSQL = credentials.makeRowSQL()
    private static let requestSQL = requests.makeRowSQL()

    /// As ``rowSQL``, and behind the input the request that the row shows.
    static let shownRequestSQL =
        "SELECT \(requests.selection), request_id FROM requests WHERE id = ?1"

    private func makeRowSQL() -> String { "SELECT \(selection) FROM \(rawValue) WHERE id = ?1" }

    var isSubmittedSQL: String {
        "SELECT state = 'submitted' FROM \(rawValue) WHERE id = ?1"
    }
}
