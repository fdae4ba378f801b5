import Glibc

/// The last error of the service in the journal of this boot, where this user may read it.
enum LastReason {
    /// `nil` for a socket that is not the installed service's.
    static func find(socket: String) -> String? {
        guard socket.hasPrefix("/run/expunged/") else { return nil }
        let command =
            "timeout 0.3 journalctl --quiet --no-pager --boot --output=cat --lines=1 --priority=err"
            + " _SYSTEMD_UNIT=expunged.service 2>/dev/null"
        guard let pipe = unsafe popen(command, "r") else { return nil }
        defer { unsafe pclose(pipe) }
        var bytes = [UInt8](repeating: 0, count: 2048)
        let count = unsafe fread(&bytes, 1, bytes.count, pipe)
        let text = String(decoding: bytes[..<count], as: UTF8.self)
        return text.split(separator: "\n").first.map(String.init)
    }
}
