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
    /// Only the last part of the way differs, so that no credential goes to another host. A program
    /// or service of the operator's own is told the name, and knows itself what is called so.
    ///
    /// - Parameter place: A path, or the name or number of a database or bucket.
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
        case .realtimeDatabase: return .none("a Realtime Database is a host of its own")
        case .firebaseAuth: return .none("a project has one set of accounts")
        case .command(var command):
            command.copy = place
            return Self.placed(.command(command), place, .sentence)
        case .webhook(var webhook):
            webhook.copy = place
            return Self.placed(.webhook(webhook), place, .sentence)
        }
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
