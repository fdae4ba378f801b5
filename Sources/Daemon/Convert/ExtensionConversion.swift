import Settings
import Systemd

/// Makes a configuration of the parameters of Firebase's extension delete-user-data, with a comment
/// for each thing that it cannot say.
struct ExtensionConversion: Sendable {
    /// Paths of one target.
    private static let pathCountMax = 64
    /// Of a comment.
    private static let lineLengthMax = 94

    let parameters: ExtensionParameters
    let project: String
    let file: String

    /// Finds the project where no `project` is given.
    ///
    /// - Throws: ``DaemonError`` where nothing names it.
    init(
        _ parameters: ExtensionParameters,
        file: String,
        project: String?
    ) throws(DaemonError) {
        guard let name = project ?? Self.project(of: parameters) else {
            throw DaemonError(
                .usage,
                "cannot convert '\(LogText.sanitized(file))': it does not name the project",
                "hint: give --project ID, the id of the Firebase project (.firebaserc)"
            )
        }
        (self.parameters, self.project, self.file) = (parameters, name, file)
    }

    /// TOML that the service accepts.
    var configuration: String {
        [head, firestore, tree, buckets, rest, accounts].filter { !$0.isEmpty }
            .joined(separator: "\n")
    }

    private static func project(of parameters: ExtensionParameters) -> String? {
        if let project = parameters["PROJECT_ID"] { return project }
        let hosts = [
            (parameters["CLOUD_STORAGE_BUCKET"], [".appspot.com", ".firebasestorage.app"]),
            (parameters["SELECTED_DATABASE_INSTANCE"], ["-default-rtdb"]),
        ]
        for (name, ends) in hosts {
            guard let name, !name.contains("$") else { continue }
            for end in ends where name.hasSuffix(end) { return String(name.dropLast(end.count)) }
        }
        return nil
    }

    // MARK: Parts

    private var head: String {
        """
        # Made from the parameters of delete-user-data in \(LogText.sanitized(file)).
        # Put a key of the service account into the credential service-account.json, and add a
        # [[provider]] for each way to sign in. The application submits a deletion to expunged;
        # it no longer deletes the account itself: the target "accounts" does that last.

        [[directory]]
        name = "firebase"
        kind = "firebase"
        project = \(SettingValue.quoted(project))
        key_credential = "service-account.json"

        """
    }

    private var accounts: String {
        """
        # The account itself, deleted last. The extension began when it was gone.
        [[target]]
        name = "accounts"
        kind = "firebase-auth"
        project = \(SettingValue.quoted(project))
        key_credential = "service-account.json"

        """
    }

    private var firestore: String {
        let paths = parameters.list("FIRESTORE_PATHS").map(ExtensionPath.init(firestore:))
        var notes = paths.compactMap { $0.note("FIRESTORE_PATHS") }
        let documents = paths.compactMap(\.template)
        if parameters["FIRESTORE_DELETE_MODE"] != "recursive", !documents.isEmpty {
            notes.append(
                "DIFFERENT: FIRESTORE_DELETE_MODE=shallow left what is below a document."
                    + " expunged deletes it, too."
            )
        }
        let discovery = discoveryNotes
        guard !documents.isEmpty else { return Self.comments(notes + discovery) }
        let database = parameters["FIRESTORE_DATABASE_ID"]
        return target(
            "documents",
            "firestore",
            [
                "project = \(SettingValue.quoted(project))",
                database.map { "database = \(SettingValue.quoted($0))" },
            ],
            [("documents", documents)],
            notes + discovery
        )
    }

    private var discoveryNotes: [String] {
        var notes: [String] = []
        if parameters.isOn("ENABLE_AUTO_DISCOVERY") {
            notes.append(
                "NOT CONVERTED: ENABLE_AUTO_DISCOVERY. expunged guesses no collections: name each"
                    + " in collections, or in groups wherever it is. Documents named by the user id"
                    + " go into documents."
            )
            let fields = parameters.list("AUTO_DISCOVERY_SEARCH_FIELDS")
            for field in fields {
                notes.append("collections = [\"COLLECTION where \(field) == {user_id}\"]")
            }
        }
        if let function = parameters["SEARCH_FUNCTION"] {
            notes.append(
                "NOT CONVERTED: SEARCH_FUNCTION \(function). Let a target of kind webhook or"
                    + " command erase what it finds."
            )
        }
        return notes
    }

    private var tree: String {
        let paths = parameters.list("RTDB_PATHS").map(ExtensionPath.init(tree:))
        guard !paths.isEmpty else { return "" }
        var notes = paths.compactMap { $0.note("RTDB_PATHS") }
        let instance = parameters["SELECTED_DATABASE_INSTANCE"] ?? "\(project)-default-rtdb"
        if parameters["SELECTED_DATABASE_INSTANCE"] == nil {
            notes.append("CHECK: no SELECTED_DATABASE_INSTANCE; this is the usual default.")
        }
        let place = parameters["SELECTED_DATABASE_LOCATION"] ?? "us-central1"
        let host =
            place == "us-central1" ? "firebaseio.com" : "\(place).firebasedatabase.app"
        return target(
            "tree",
            "realtime-database",
            ["url = \(SettingValue.quoted("https://\(instance).\(host)"))"],
            [("paths", paths.compactMap(\.template))],
            notes
        )
    }

    private var buckets: String {
        let paths = parameters.list("STORAGE_PATHS").map(ExtensionPath.init(storage:))
        var names: [String] = []
        for path in paths where !names.contains(path.bucket) { names.append(path.bucket) }
        return names.enumerated().map { index, name in
            let own = paths.filter { $0.bucket == name }
            var notes = own.compactMap { $0.note("STORAGE_PATHS") }
            if name == "{DEFAULT}", parameters["CLOUD_STORAGE_BUCKET"] == nil {
                notes.append(
                    "CHECK: no CLOUD_STORAGE_BUCKET; newer projects have"
                        + " \(project).firebasestorage.app."
                )
            }
            return target(
                index == 0 ? "uploads" : "uploads-\(index + 1)",
                "google-cloud-storage",
                ["bucket = \(SettingValue.quoted(bucket(name)))"],
                [
                    ("prefixes", own.compactMap(\.prefix)), ("objects", own.compactMap(\.object)),
                ],
                notes
            )
        }.joined(separator: "\n")
    }

    private func bucket(_ name: String) -> String {
        guard name == "{DEFAULT}" else { return name }
        let standard = "\(project).appspot.com"
        let given = parameters["CLOUD_STORAGE_BUCKET"] ?? standard
        return given.replacing(/\$\{(param:)?PROJECT_ID\}/, with: project)
            .replacing(/\$\{(param:)?STORAGE_BUCKET\}/, with: standard)
    }

    private var rest: String {
        var notes: [String] = []
        if parameters["EVENTARC_CHANNEL"] != nil || parameters["ALLOWED_EVENT_TYPES"] != nil {
            notes.append("NOT CONVERTED: events (EVENTARC_CHANNEL). Follow expungectl events.")
        }
        notes += parameters.unknown.map { "NOT CONVERTED: \($0), which is not known here." }
        return Self.comments(notes)
    }

    // MARK: Text

    /// A section; only comments where no path is left.
    private func target(
        _ name: String,
        _ kind: String,
        _ settings: [String?],
        _ lists: [(key: String, paths: [String])],
        _ notes: [String]
    ) -> String {
        var notes = notes
        var lines: [String] = []
        for (key, paths) in lists where !paths.isEmpty {
            var unique: [String] = []
            for path in paths where !unique.contains(path) { unique.append(path) }
            for path in unique.dropFirst(Self.pathCountMax) {
                notes.append("NOT CONVERTED: \(path). \(key) has at most \(Self.pathCountMax).")
            }
            let list = SettingValue.texts(Array(unique.prefix(Self.pathCountMax))).toml
            lines.append("\(key) = \(list)")
        }
        guard !lines.isEmpty else { return Self.comments(notes) }
        let head = ["[[target]]", "name = \"\(name)\"", "kind = \"\(kind)\""]
        let own = settings.compactMap(\.self) + ["key_credential = \"service-account.json\""]
        return Self.comments(notes) + (head + own + lines).joined(separator: "\n") + "\n"
    }

    private static func comments(_ notes: [String]) -> String {
        notes.map { "# \(wrapped(LogText.sanitized($0)))\n" }.joined()
    }

    /// With line ends before words that would stand behind the line's end.
    private static func wrapped(_ text: String) -> String {
        var lines = [""]
        for word in text.split(separator: " ") {
            let isFirst = lines[lines.count - 1].isEmpty
            if !isFirst, lines[lines.count - 1].count + word.count > lineLengthMax {
                lines.append(String(word))
            } else {
                lines[lines.count - 1] += (isFirst ? "" : " ") + word
            }
        }
        return lines.joined(separator: "\n#   ")
    }
}
