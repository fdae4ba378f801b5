import FoundationEssentials
package import Lifecycle

/// The time zones of the machine (tzfile(5)).
package enum TimeZoneFile {
    static let namePattern = "[A-Za-z0-9_+-]{1,32}(/[A-Za-z0-9_+-]{1,32}){0,2}"
    /// Three parts and what is between them.
    static let nameByteCountMax = 3 * 32 + 2
    private static let directory = "/usr/share/zoneinfo/"

    /// Whether a text has the form of a name, so that no path leads out of the directory.
    package static func isName(_ text: String) -> Bool {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        return (1...3).contains(parts.count)
            && parts.allSatisfy { part in
                (1...32).contains(part.utf8.count)
                    && part.utf8.allSatisfy { byte in
                        (48...57).contains(byte) || (65...90).contains(byte & 0xdf)
                            || "_+-".utf8.contains(byte)
                    }
            }
    }

    /// The rules of a zone, `nil` where the machine does not know it; UTC needs no file.
    package static func rules(named name: String) -> TimeZoneRules? {
        if name == "UTC" { return .utc }
        guard isName(name) else { return nil }
        let data: Data
        do {
            data = try Data(contentsOf: URL(filePath: directory + name))
        } catch {
            // The only use of the reason is that there is no such zone.
            return nil
        }
        return TimeZoneRules(file: Array(data))
    }

    /// The zone of the process, by TZ, else of the machine; UTC where neither has a name.
    package static var localName: String {
        let variable = ProcessInfo.processInfo.environment["TZ"]
        let named = [variable.map { $0.hasPrefix(":") ? String($0.dropFirst()) : $0 }, linkedName]
        return named.compactMap(\.self).first { rules(named: $0) != nil } ?? "UTC"
    }

    private static var linkedName: String? {
        do {
            let path = try FileManager.default.destinationOfSymbolicLink(atPath: "/etc/localtime")
            return path.firstRange(of: "zoneinfo/").map { String(path[$0.upperBound...]) }
        } catch {
            // A machine without the link keeps UTC (localtime(5)).
            return nil
        }
    }
}
