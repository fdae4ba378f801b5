import CLinux
import Control
import Glibc

/// Which person is behind a process: two root shells of one login are one.
package enum PeerLogin: Hashable, Sendable {
    /// The login session belongs to this uid, whatever the process runs as.
    case session(UInt32)
    /// A service, a cron job, or a kernel that keeps no login uids.
    case none
    /// The process is gone, or `/proc` hides it.
    case hidden

    /// Reads it, and closes `handle`, a pidfd of the process or -1.
    ///
    /// `error` says why there is none. A kernel that has pidfds gives none of a process that is
    /// gone, whose number may be another one's by now.
    init(pid: Int32, handle: CInt, error: CInt = ENOPROTOOPT) {
        guard handle >= 0 || error == ENOPROTOOPT else {
            self = .hidden
            return
        }
        var login: UInt32 = 0
        switch unsafe clinux_login_of_process(pid, handle, &login) {
        case 1: self = .session(login)
        case 0: self = .none
        default: self = .hidden
        }
    }

    /// Whether `/proc` shows the processes of others, here the first of all.
    ///
    /// `ProtectProc=invisible` of systemd.exec(5) hides them; then no approval can be taken.
    package static var isReadable: Bool { PeerLogin(pid: 1, handle: -1) != .hidden }

    /// ``Control/Caller/operatorUID``: an application has none, but a person on its socket has.
    func operatorUID(uid: UInt32, role: ControlRole) -> UInt32? {
        switch self {
        case .session(let login): login
        case .none: role == .operator ? uid : nil
        case .hidden: nil
        }
    }
}
