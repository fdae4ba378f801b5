import Glibc

/// The group of a socket that the service makes itself.
enum SocketGroup {
    /// Returns the number of a group of the configuration, by number or name.
    ///
    /// - Throws: ``DaemonError`` of kind `configuration` for a name that the system does not know.
    static func id(of name: String?, _ key: String) throws(DaemonError) -> UInt32? {
        guard let name else { return nil }
        if let number = UInt32(name) { return number }
        var record = unsafe group()
        var found: UnsafeMutablePointer<group>?
        var buffer = [CChar](repeating: 0, count: 1 << 16)
        let answer = unsafe getgrnam_r(name, &record, &buffer, buffer.count, &found)
        guard answer == 0, let found = unsafe found else {
            throw DaemonError(
                .configuration,
                "cannot use \(key) '\(name)': the system knows no such group",
                "hint: create it, or give its number"
            )
        }
        return unsafe found.pointee.gr_gid
    }
}
