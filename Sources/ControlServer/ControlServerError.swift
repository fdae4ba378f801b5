import Encoding

/// Why the control server cannot listen.
package struct ControlServerError: Error, Sendable, CustomStringConvertible {
    /// What failed.
    package enum Kind: String, Sendable {
        case pathTooLong = "path too long"
        /// Something that is no socket is in the way; it is never removed.
        case pathOccupied = "path occupied"
        /// The service is no member of it.
        case group = "group"
        case notListening = "not a listening unix stream socket"
        case systemCall = "system call"
    }

    package let kind: Kind
    /// The path, or the number of the descriptor.
    package let place: String
    package let errorNumber: Int32?

    init(_ kind: Kind, _ place: String, _ errorNumber: Int32? = nil) {
        (self.kind, self.place, self.errorNumber) = (kind, place, errorNumber)
    }

    package var description: String {
        let cause = errorNumber.map { ": \(ErrorNumber($0))" } ?? ""
        let hint =
            kind == .group
            ? "\nhint: make the service's user a member of that group, in a container by"
                + " --group-add or GroupAdd=" : ""
        return "cannot listen at '\(place)' (\(kind.rawValue))\(cause)\(hint)"
    }
}
