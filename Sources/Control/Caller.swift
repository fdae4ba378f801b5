/// What a peer may do; decided by the socket that it connected to, never by what it says.
package enum ControlRole: String, Sendable, CaseIterable {
    /// Read without changing anything and without seeing personal data.
    case viewer
    /// Applications: hand work in, read states and receipts.
    case submit
    case `operator`
}

/// Who is asking: the role of the socket and what the kernel said about the peer at connect.
///
/// The uid is SO_PEERCRED's (unix(7)). The process id is for the ledger's reader only: it may be
/// reused, so nothing is ever decided by it.
package struct Caller: Sendable, Hashable {
    package let role: ControlRole
    package let uid: UInt32
    package let pid: Int32?
    /// The login uid of the person behind the connection, which survives a change of the uid.
    ///
    /// An operator without a login session has the uid here; `nil` for an application, and where it
    /// could not be read.
    package let operatorUID: UInt32?
    /// Whether it could not be read: the process was gone, or `/proc` hides it.
    ///
    /// Anybody may be behind the connection. An operator of whom nothing is known is hidden, too.
    package let isHidden: Bool

    package init(
        role: ControlRole,
        uid: UInt32,
        pid: Int32? = nil,
        operatorUID: UInt32? = nil,
        isHidden: Bool = false
    ) {
        (self.role, self.uid, self.pid, self.operatorUID) = (role, uid, pid, operatorUID)
        self.isHidden = isHidden || (role == .operator && operatorUID == nil)
    }

    /// The person's uid where it is known, or else the peer's: under sudo, the peer is root.
    package var actorUID: UInt32 { operatorUID ?? uid }
}
