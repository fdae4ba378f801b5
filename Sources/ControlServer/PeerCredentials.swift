import NIOCore

/// `struct ucred` of unix(7), which the C library hides from Swift.
struct PeerCredentials: Sendable {
    var pid: Int32 = 0
    var uid: UInt32 = 65_534
    var gid: UInt32 = 65_534
}
