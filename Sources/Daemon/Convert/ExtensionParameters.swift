import Glibc
import Systemd

/// The parameters of an extension of Firebase, as `firebase ext:export` writes them (dotenv).
struct ExtensionParameters: Sendable {
    /// Larger files are none of parameters.
    static let byteCountMax = 1 << 16

    let values: [String: String]

    /// Reads `NAME=VALUE` lines; empty values count as none.
    ///
    /// - Throws: ``DaemonError`` for a text that has none.
    init(_ text: String, file: String) throws(DaemonError) {
        var values: [String: String] = [:]
        // Editors of Windows write a byte order mark.
        let text = text.first == "\u{feff}" ? text.dropFirst() : text[...]
        for line in text.split(whereSeparator: \.isNewline) {
            let line = Self.trimmed(line)
            guard !line.hasPrefix("#"), let end = line.firstIndex(of: "=") else { continue }
            let name = Self.trimmed(line[..<end])
            let value = Self.unquoted(Self.trimmed(line[end...].dropFirst()))
            if !value.isEmpty { values[name] = value }
        }
        guard values.keys.contains(where: { Self.known.contains($0) }) else {
            throw DaemonError(
                .configuration,
                "cannot convert '\(LogText.sanitized(file))':"
                    + " it has no parameter of delete-user-data",
                "hint: give extensions/delete-user-data.env of the Firebase project;"
                    + " firebase ext:export writes it"
            )
        }
        self.values = values
    }

    subscript(name: String) -> String? { values[name] }

    /// The entries of a list with commas.
    func list(_ name: String) -> [String] {
        (values[name] ?? "").split(separator: ",").map { Self.trimmed($0) }
            .filter { !$0.isEmpty }
    }

    func isOn(_ name: String) -> Bool { ["yes", "true"].contains(values[name]?.lowercased()) }

    /// Of the extension, of its versions and of what the command line adds to every extension.
    static let known: Set = [
        "LOCATION", "PROJECT_ID", "FIRESTORE_PATHS", "FIRESTORE_DELETE_MODE",
        "FIRESTORE_DATABASE_ID", "SELECTED_DATABASE_INSTANCE", "SELECTED_DATABASE_LOCATION",
        "RTDB_PATHS", "CLOUD_STORAGE_BUCKET", "STORAGE_PATHS", "ENABLE_AUTO_DISCOVERY",
        "AUTO_DISCOVERY_SEARCH_DEPTH", "AUTO_DISCOVERY_SEARCH_FIELDS", "SEARCH_FUNCTION",
        "EVENTARC_CHANNEL", "ALLOWED_EVENT_TYPES", "EXT_INSTANCE_ID", "INSTANCE_ID",
        "DISCOVERY_TOPIC_NAME", "DELETION_TOPIC_NAME",
    ]

    /// Of the file, and unknown here; settings of the functions themselves are none.
    var unknown: [String] {
        values.keys.filter {
            !Self.known.contains($0) && !$0.hasPrefix("firebaseextensions.")
                && !$0.contains("/")
        }
        .sorted()
    }

    private static func trimmed(_ text: Substring) -> String {
        let isBlank = { (character: Character) in character == " " || character == "\t" }
        let head = text.drop(while: isBlank)
        return String(head.reversed().drop(while: isBlank).reversed())
    }

    private static func unquoted(_ text: String) -> String {
        guard let first = text.first, text.count > 1, first == text.last, "\"'".contains(first)
        else { return text }
        return String(text.dropFirst().dropLast())
    }
}
