import Lifecycle

extension SQLError.Code {
    /// A number of MySQL or MariaDB, or of libmariadb.
    static func mysql(_ number: UInt32) -> Self {
        Self(domain: "MySQL error", value: String(number))
    }
}

extension SQLError {
    /// An error of a MySQL or MariaDB server; the number is 0 for our own judgment.
    init(_ kind: Kind, mysql number: UInt32, store: StoreName) {
        self.init(
            kind,
            store: store,
            code: number == 0 ? nil : .mysql(number),
            advice: Self.advice(kind, number)
        )
    }

    /// Classifies what the library or the server said; numbers of both servers, MariaDB's own from
    /// 1900 to 1999 and from 4000 on (MySQL 8.0 Error Reference; MariaDB Error Codes).
    init(_ failure: MySQLFailure, store: StoreName, database: String) {
        self.init(Self.kind(failure.number), mysql: failure.number, store: store)
        guard kind == .constraint else { return }
        obstacle = Obstacle(failure, database: database)
    }

    private static func kind(_ number: UInt32) -> Kind {
        switch number {
        case 2000, 2002, 2003, 2004, 2005, 1047: .unreachable
        case 2026: .tls
        case 2049, 2054, 2058, 2059, 2061: .refused
        case 2006, 2012, 2013, 2014, 2055: .lost
        case 1044, 1045, 1049, 1130, 1251, 1524, 1698, 1820, 1862, 3118, 4151: .refused
        case 1053, 1079, 1152...1161, 1184, 1927, 1928, 4031: .lost
        case 1040, 1129, 1203, 1205, 1206, 1213, 1226, 1614, 3058, 3572: .locked
        case 1317, 1907, 1969, 3024: .timeout
        case 1290, 1792, 1836, 1874, 3100, 3101: .readOnly
        case 1048, 1062, 1169, 1216, 1217, 1242, 1264, 1265, 1292, 1305, 1364, 1366, 1406, 1442,
            1449, 1451, 1452, 1644, 1690, 1761, 3819, 4025:
            .constraint
        case 1142, 1143, 1227, 1370, 1410: .privilege
        case 1054, 1091, 1109, 1146, 1356, 1412, 1615: .schemaChanged
        case 1021, 1026, 1030, 1037, 1038, 1041, 1114: .storage
        case 1665: .unfit
        default: .failed
        }
    }

    /// Where to look.
    private static func advice(_ kind: Kind, _ number: UInt32) -> String? {
        switch (kind, number) {
        case (.locked, 1205): lockHeld
        case (.refused, 1049): "the server has no such database"
        case (.refused, _): "check username, password_credential and database, and the user's host"
        case (.unreachable, _): "no server answers; check address or socket"
        case (.unfit, 1665): "binlog_format is STATEMENT; set it to ROW"
        case (.unfit, _): "the server is older than MySQL 8.0.1 or MariaDB 10.11"
        default: nil
        }
    }
}

extension Obstacle {
    /// From the number, and from names of the schema in the text; never a value.
    fileprivate init(_ failure: MySQLFailure, database: String) {
        let names = Self.names(in: failure.message)
        switch failure.number {
        case 1451, 1452:
            // ... fails (`database`.`table`, CONSTRAINT `name` FOREIGN KEY ...
            guard names.count >= 3 else {
                self.init(.foreignKey)
                return
            }
            let table = names[0] == database ? names[1] : "\(names[0]).\(names[1])"
            self.init(.foreignKey, at: table, name: names[2])
        case 1216, 1217: self.init(.foreignKey)
        // CONSTRAINT `name` failed for `database`.`table`
        case 4025: self.init(.constraint, name: names.first)
        // Check constraint 'name' is violated.
        case 3819: self.init(.constraint, name: Self.quoted(failure.message))
        case 1449: self.init(.permission)
        case 1242, 1305, 1442, 1644: self.init(.trigger)
        default: self.init(.constraint)
        }
    }

    /// What stands between backticks, a doubled one being part of the name.
    private static func names(in text: String) -> [String] {
        var names: [String] = []
        var name: [UInt8]?
        var bytes = Array(text.utf8)[...]
        let tick = UInt8(ascii: "`")
        while let byte = bytes.popFirst() {
            guard let open = name else {
                if byte == tick { name = [] }
                continue
            }
            guard byte == tick else {
                name = open + [byte]
                continue
            }
            if bytes.first == tick {
                bytes.removeFirst()
                name = open + [tick]
            } else {
                names.append(String(decoding: open, as: UTF8.self))
                name = nil
            }
        }
        return names
    }

    /// The only name of a text, in single quotation marks.
    private static func quoted(_ text: String) -> String? {
        let parts = text.split(separator: "'", omittingEmptySubsequences: false)
        return parts.count == 3 ? String(parts[1]) : nil
    }
}
