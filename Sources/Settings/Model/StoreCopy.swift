/// Where a copy of a store is, for a drill that erases in it.
package enum StoreCopy: Hashable, Sendable {
    /// The same store, reached in the same way and with the same credentials, but there.
    case placed(TargetKind)
    /// What the place must be, in words that follow "must be".
    case malformed(String)
    /// Why a store of that kind has no copy beside it.
    case none(String)
}

extension TargetKind {
    /// The store in another place of the same machine, server, endpoint or project.
    ///
    /// Only the last part of the way differs, so that no credential goes to a host of others: a
    /// Realtime Database, which is a host of its own, stays below Google's domain. A program or
    /// service of the operator's own is told the name, and knows itself what is called so.
    ///
    /// - Parameter place: A path, or the name or number of a database, bucket or tenant.
    /// - Returns: The copy, or why there is none. Whether it is there is not looked at.
    package func copy(at place: String) -> StoreCopy {
        switch self {
        case .sqlite(var sqlite):
            sqlite.path = place
            return Self.placed(.sqlite(sqlite), place, .path)
        case .files(var files):
            files.root = place
            return Self.placed(.files(files), place, .path)
        case .postgresql(var postgresql):
            postgresql.database = place
            return Self.placed(.postgresql(postgresql), place, .identifier)
        case .redis(var redis):
            // What the setting allows (target.database).
            guard let number = UInt16(place), "\(number)" == place else {
                return .malformed("the number of a database of the same server, 0 to 65535")
            }
            redis.database = Int(number)
            return .placed(.redis(redis))
        case .s3(var s3):
            s3.bucket = place
            return Self.placed(.s3(s3), place, .bucket)
        case .cloudStorage(var storage):
            storage.bucket = place
            return Self.placed(.cloudStorage(storage), place, .cloudName)
        case .firestore(var firestore):
            firestore.database = place
            return Self.placed(.firestore(firestore), place, .cloudName)
        case .realtimeDatabase(let database): return Self.copy(of: database, at: place)
        case .firebaseAuth(var firebase):
            guard Self.isLabel(place) else {
                return .malformed("the id of another tenant of the same project, \(Self.label)")
            }
            firebase.tenant = place
            return .placed(.firebaseAuth(firebase))
        case .command(var command):
            command.copy = place
            return Self.placed(.command(command), place, .sentence)
        case .webhook(var webhook):
            webhook.copy = place
            return Self.placed(.webhook(webhook), place, .sentence)
        }
    }

    private static func copy(
        of database: RealtimeDatabaseTargetConfiguration,
        at place: String
    ) -> StoreCopy {
        guard let domain = database.domain else {
            return .none("its url is not https://NAME.firebaseio.com or the like")
        }
        guard database.access.baseURL == nil || database.access.isEmulator else {
            return .none("what is at its base_url may be one database, whatever name it is told")
        }
        guard isLabel(place), place == place.lowercased() else {
            return .malformed("the name of another database of the same project, \(label)")
        }
        var copy = database
        copy.url = "https://\(place).\(domain)"
        return .placed(.realtimeDatabase(copy))
    }

    private static let label = "1 to 63 letters a-z, digits or inner '-'"

    /// Nothing that ends a label of a host or a name of a path.
    private static func isLabel(_ text: String) -> Bool {
        (1...63).contains(text.utf8.count) && text.first != "-" && text.last != "-"
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
    }

    private static func placed(_ kind: TargetKind, _ place: String, _ rule: TextRule) -> StoreCopy {
        rule.accepts(place) ? .placed(kind) : .malformed(rule.requirement)
    }

    /// Whether both may be one place, as far as the configuration tells.
    ///
    /// A server has more names than anybody can compare (a socket, an address, an alias, a port
    /// that is left out), so the last part of the way decides alone. A path may have several names,
    /// too, and the database of PostgreSQL is in a credential: these are not told here.
    package func isPlace(of other: TargetKind) -> Bool {
        switch (self, other) {
        case (.sqlite(let one), .sqlite(let two)): one.path == two.path
        case (.files(let one), .files(let two)): one.root == two.root
        case (.redis(let one), .redis(let two)): one.database == two.database
        case (.firestore(let one), .firestore(let two)):
            one.project == two.project && one.database == two.database
        case (.realtimeDatabase(let one), .realtimeDatabase(let two)):
            one.instance == two.instance
        // A project has a number, too, by which it may be called.
        case (.firebaseAuth(let one), .firebaseAuth(let two)):
            one.tenant?.lowercased() == two.tenant?.lowercased()
        default: bucket != nil && bucket == other.bucket
        }
    }

    /// Cloud Storage speaks the protocol of S3, too.
    private var bucket: String? {
        switch self {
        case .s3(let s3): s3.bucket
        case .cloudStorage(let storage): storage.bucket
        default: nil
        }
    }
}
