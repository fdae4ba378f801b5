/// What `SHOW GRANTS` says, of roles that are on as well.
struct MySQLGrants {
    private let lines: [String]

    init(_ lines: [String]) { self.lines = lines }

    var hasAll: Bool { lines.contains { $0.hasPrefix("GRANT ALL PRIVILEGES ON *.* ") } }

    /// All clients of the server, not only the user's own.
    var maySeeProcesses: Bool { hasAll || isGranted("PROCESS", ["*.*"]) }

    /// Every table of a database.
    func mayRead(_ database: String) -> Bool {
        // A name is a pattern there, in which an underscore is escaped (MySQL 8.0, 15.7.1.6).
        let names = [database, database.replacing("_", with: "\\_")]
            .map { "\(MySQLDialect.quoted($0)).*" }
        return isGranted("ALL PRIVILEGES", ["*.*"] + names) || isGranted("SELECT", ["*.*"] + names)
    }

    private func isGranted(_ privilege: String, _ places: [String]) -> Bool {
        lines.contains { line in
            guard line.hasPrefix("GRANT "), let end = line.firstRange(of: " ON ") else {
                return false
            }
            let privileges = line[..<end.lowerBound].dropFirst("GRANT ".count).split(separator: ",")
            let place = line[end.upperBound...]
            return privileges.contains { $0.drop { $0 == " " } == privilege }
                && places.contains { place.hasPrefix($0 + " ") }
        }
    }
}
