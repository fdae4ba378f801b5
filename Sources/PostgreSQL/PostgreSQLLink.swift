internal import CPostgres
internal import Glibc
internal import Lifecycle

/// One connection to a server, without a call that blocks for longer than its deadline.
///
/// Confined to one queue; every wait is a poll(2) that a descriptor of the caller's ends. Only the
/// resolution of a host name may take as long as resolv.conf(5) allows.
@safe package final class PostgreSQLLink {
    private let handle: OpaquePointer
    private let uptime: @Sendable () -> Duration
    private let memory: LibraryMemory
    /// Ends waits when it becomes readable; -1 for none.
    package var wakeDescriptor: Int32 = -1

    private init(
        _ handle: OpaquePointer,
        _ memory: LibraryMemory,
        _ uptime: @escaping @Sendable () -> Duration
    ) {
        unsafe self.handle = handle
        (self.memory, self.uptime) = (memory, uptime)
    }

    deinit { unsafe PQfinish(handle) }

    /// Such as `17.2`.
    package static var libraryVersion: String {
        let number = PQlibVersion()
        return "\(number / 10_000).\(number % 10_000)"
    }

    // MARK: Connecting

    /// Connects to the first host of a connection string that can be written.
    ///
    /// The way to a usable session, TLS and log-in included, takes no longer than `limit`; libpq
    /// holds at most `memoryMax` bytes for it, `nil` without a bound. Throws ``PostgreSQLFailure``.
    package static func open(
        _ conninfo: PostgreSQLConninfo,
        within limit: Duration,
        memoryMax: Int64? = nil,
        wakeDescriptor: Int32 = -1,
        uptime: @escaping @Sendable () -> Duration
    ) throws(PostgreSQLFailure) -> PostgreSQLLink {
        guard let handle = unsafe start(conninfo.options) else { throw .unreachable }
        let memory = LibraryMemory(byteCountMax: memoryMax)
        let link = unsafe PostgreSQLLink(handle, memory, uptime)
        link.wakeDescriptor = wakeDescriptor
        try link.finishConnecting(until: uptime() + limit)
        return link
    }

    private static func start(_ options: [(key: String, value: String)]) -> OpaquePointer? {
        var keys = unsafe options.map { unsafe UnsafePointer<CChar>(strdup($0.key)) }
        var values = unsafe options.map { unsafe UnsafePointer<CChar>(strdup($0.value)) }
        unsafe keys.append(nil)
        unsafe values.append(nil)
        defer {
            for index in options.indices {
                unsafe wipe(keys[index])
                unsafe wipe(values[index])
            }
        }
        return unsafe PQconnectStartParams(keys, values, 0)
    }

    private static func wipe(_ text: UnsafePointer<CChar>?) {
        guard let text = unsafe UnsafeMutablePointer(mutating: text) else { return }
        unsafe explicit_bzero(text, strlen(text))
        unsafe free(text)
    }

    private func finishConnecting(until deadline: Duration) throws(PostgreSQLFailure) {
        // The default prints notices, which quote values, on standard error.
        _ = unsafe PQsetNoticeProcessor(handle, { _, _ in }, nil)
        _ = unsafe PQsetErrorVerbosity(handle, PQERRORS_SQLSTATE)
        var state = PGRES_POLLING_WRITING
        guard unsafe PQstatus(handle) != CONNECTION_BAD else { throw connectFailure }
        while state != PGRES_POLLING_OK {
            switch state {
            case PGRES_POLLING_READING: try wait(POLLIN, until: deadline)
            case PGRES_POLLING_WRITING: try wait(POLLOUT, until: deadline)
            default: throw connectFailure
            }
            state = memory.counting { unsafe PQconnectPoll(handle) }
        }
        guard unsafe PQsetnonblocking(handle, 1) == 0 else { throw broken }
    }

    /// libpq has no code for a connection that failed: its text ends with the SQLSTATE when the
    /// server said one (`PQERRORS_SQLSTATE`), and names what went wrong with TLS.
    private var connectFailure: PostgreSQLFailure {
        if memory.isFull { return .oversized }
        let text = unsafe String(cString: PQerrorMessage(handle))
        let state = text.split(whereSeparator: \.isWhitespace).last.map(String.init) ?? ""
        if state.utf8.count == 5, state.utf8.allSatisfy({ $0.isDigitOrCapital }) {
            return .state(state)
        }
        let isTLS = ["SSL", "certificate", "TLS"].contains { text.contains($0) }
        if text.contains("session is read-only") || text.contains("in hot standby mode") {
            return .readOnly
        }
        let isOurs = text.contains("no password supplied") || text.contains("authentication")
        return isTLS ? .tls : isOurs ? .refused : .unreachable
    }

    /// Why a call that sends has answered `false`.
    package var broken: PostgreSQLFailure { memory.isFull ? .oversized : .lost }

    /// Such as 150018 for 15.18.
    package var serverVersion: Int32 { unsafe PQserverVersion(handle) }

    // MARK: Sending

    /// Sends one statement, or the one that was prepared under a name, with text or binary values
    /// in its answer; `types` are the parameters'.
    ///
    /// - Returns: `false` when the connection has ended.
    package func send(
        _ statement: String,
        isPrepared: Bool = false,
        _ parameters: PostgreSQLParameters,
        isBinary: Bool
    ) -> Bool {
        let text = Array(statement.utf8CString)
        let (count, format) = (Int32(parameters.count), Int32(isBinary ? 1 : 0))
        return unsafe parameters.withArrays { values, lengths, formats in
            memory.counting { () -> Bool in
                guard !isPrepared else {
                    return unsafe PQsendQueryPrepared(
                        handle,
                        text,
                        count,
                        values,
                        lengths,
                        formats,
                        format
                    ) == 1
                }
                return unsafe PQsendQueryParams(
                    handle,
                    text,
                    count,
                    parameters.types,
                    values,
                    lengths,
                    formats,
                    format
                ) == 1
            }
        }
    }

    /// Has the server parse a statement under a name.
    ///
    /// - Returns: `false` when the connection has ended.
    package func sendPreparation(_ name: String, _ sql: String, types: [UInt32]) -> Bool {
        let (name, text) = (Array(name.utf8CString), Array(sql.utf8CString))
        return memory.counting {
            unsafe PQsendPrepare(handle, name, text, Int32(types.count), types) == 1
        }
    }

    /// Has the rows of the statement that was just sent come one by one, each in an answer of its
    /// own, before one without rows.
    package func readRowByRow() { _ = unsafe PQsetSingleRowMode(handle) }

    /// Several statements may be sent from now on before the first answer is read.
    ///
    /// - Throws: `lost`.
    package func enterPipeline() throws(PostgreSQLFailure) {
        guard unsafe PQenterPipelineMode(handle) == 1 else { throw .lost }
    }

    /// Ends a pipeline: its answers end with one of kind `sync`.
    ///
    /// - Throws: `lost`.
    package func sendSync() throws(PostgreSQLFailure) {
        guard unsafe PQpipelineSync(handle) == 1 else { throw .lost }
    }

    /// Hands what was sent to the kernel, and takes what comes meanwhile.
    ///
    /// - Throws: `lost`, `oversized`, `timeout`, `cancelled`.
    package func flush(until deadline: Duration) throws(PostgreSQLFailure) {
        while true {
            let rest = memory.counting { unsafe PQflush(handle) }
            switch rest {
            case 0: return
            case 1: break
            default: throw broken
            }
            try wait(POLLIN | POLLOUT, until: deadline)
            try takeInput()
        }
    }

    // MARK: Answers

    private func takeInput() throws(PostgreSQLFailure) {
        let isTaken = memory.counting { unsafe PQconsumeInput(handle) == 1 }
        guard isTaken, !memory.isFull else { throw broken }
    }

    /// The next answer; `nil` ends those of one statement.
    ///
    /// - Throws: `lost`, `oversized`, `timeout`, `cancelled`.
    package func nextResult(
        until deadline: Duration
    ) throws(PostgreSQLFailure)
        -> PostgreSQLResult?
    {
        while isBusy {
            try wait(POLLIN, until: deadline)
            try takeInput()
        }
        let result = unsafe memory.counting { unsafe PQgetResult(handle) }
        let answer = unsafe result.map { unsafe PostgreSQLResult($0, memory) }
        // What libpq could not read looks like an error of the server, or is left out.
        guard !memory.isFull else { throw .oversized }
        return answer
    }

    private var isBusy: Bool { memory.counting { unsafe PQisBusy(handle) == 1 } }

    /// Takes what has come on channels that the session listens to, and returns the payloads.
    ///
    /// - Throws: `lost`, `oversized`.
    package func takeNotifications() throws(PostgreSQLFailure) -> [String] {
        try takeInput()
        var payloads: [String] = []
        while true {
            let found = unsafe memory.counting { unsafe PQnotifies(handle) }
            guard let notification = unsafe found else { return payloads }
            let payload = unsafe notification.pointee.extra.map { unsafe String(cString: $0) }
            payloads.append(payload ?? "")
            memory.counting { unsafe PQfreemem(notification) }
        }
    }

    /// Whether the caller's descriptor is readable.
    package var isCancelled: Bool {
        var entry = pollfd(fd: wakeDescriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&entry, 1, 0) > 0
    }

    /// Asks the server to stop, so that it does not work on for nobody.
    ///
    /// A connection of its own, as the protocol wants it; it blocks for as long as connecting
    /// takes, which `tcp_user_timeout` bounds.
    package func cancel() {
        guard let request = unsafe PQgetCancel(handle) else { return }
        var text = [CChar](repeating: 0, count: 256)
        _ = unsafe PQcancel(request, &text, Int32(text.count))
        unsafe PQfreeCancel(request)
    }

    /// Waits until something comes.
    ///
    /// - Throws: `lost`, `timeout`, `cancelled`.
    package func waitForInput(until deadline: Duration) throws(PostgreSQLFailure) {
        try wait(POLLIN, until: deadline)
    }

    private func wait(_ events: Int32, until deadline: Duration) throws(PostgreSQLFailure) {
        let socket = unsafe PQsocket(handle)
        guard socket >= 0 else { throw .lost }
        while true {
            let rest = deadline - uptime()
            guard rest > .zero else { throw .timeout }
            var entries = [
                pollfd(fd: socket, events: Int16(events), revents: 0),
                pollfd(fd: wakeDescriptor, events: Int16(POLLIN), revents: 0),
            ]
            let count = unsafe poll(&entries, 2, Int32(clamping: rest.milliseconds + 1))
            if count < 0, errno != EINTR { throw .lost }
            if entries[1].revents != 0 { throw .cancelled }
            if entries[0].revents != 0 { return }
        }
    }
}

extension UInt8 {
    fileprivate var isDigitOrCapital: Bool {
        (0x30...0x39).contains(self) || (0x41...0x5a).contains(self)
    }
}
