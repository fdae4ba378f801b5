/// How the program `expunged` ends, as in sysexits.h, which systemd shows by name (systemd.exec(5),
/// "Process exit codes"); expunged(8) lists them, which a test compares.
enum ExitStatus: Int32, CaseIterable {
    case done = 0
    /// A check found an error.
    case findings = 1
    case usage = 64
    /// The state directory, the spool or a socket.
    case place = 74
    /// A check could not examine everything, and found no error besides.
    case unexamined = 77
    /// The configuration or a credential: an operator must mend it first.
    case configuration = 78
}
