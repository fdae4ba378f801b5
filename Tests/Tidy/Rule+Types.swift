extension Rule {
    /// What travels over a socket is made and read at the edge; what the service keeps and decides
    /// with has types of its own.
    static let wireTypes = Rule("wire-types") { file in
        guard file.isSwift, file.path.hasPrefix("Sources/"),
            !wirePlaces.contains(where: { file.path.hasPrefix($0) })
        else { return [] }
        let uppercase = UInt8(ascii: "A")...UInt8(ascii: "Z")
        return file.offsets(of: "Wire").compactMap { offset in
            guard let next = file.code[(offset + 4)...].first, uppercase.contains(next) else {
                return nil
            }
            return (
                file.line(of: offset),
                "a type of the service's own, translated in Sources/Daemon/Control"
            )
        }
    }

    private static let wirePlaces = [
        "Sources/Control/", "Sources/ControlServer/", "Sources/ControlClient/",
        "Sources/expungectl/", "Sources/Daemon/Control/", "Sources/Daemon/Report/",
    ]
}
