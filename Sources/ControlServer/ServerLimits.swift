/// Bounds of the control server; a test may shorten the waits.
package struct ServerLimits: Sendable {
    /// From the first byte of a request to the end of its header fields: one small packet.
    package var headTimeout: Duration = .seconds(5)
    /// From the end of the header fields to the end of a body of at most 64 KiB.
    package var bodyTimeout: Duration = .seconds(10)
    /// How long the backend may take: a commit takes milliseconds, a check of a provider seconds.
    package var answerTimeout: Duration = .seconds(60)
    /// How long a plan may take, which counts to the end: a million rows take seconds, a million
    /// objects minutes.
    package var planTimeout: Duration = .seconds(600)
    /// How long a connection may stay open with nothing asked.
    package var idleTimeout: Duration = .seconds(30)
    /// How long a peer may leave its answers unread once the buffers are full.
    package var writeTimeout: Duration = .seconds(10)
    /// How long a refused peer may take to read the refusal before the connection is cut.
    package var lingerTimeout: Duration = .seconds(1)
    /// How long the answers that are being worked on may take once the server is told to stop.
    package var drainTimeout: Duration = .seconds(10)
    /// All header fields and the request line, in bytes: ours need less than one kilobyte.
    package var headByteCountMax = 8 * 1024
    /// Header fields of one request.
    package var headFieldCountMax = 64
    /// Open connections of one uid, so that one program cannot lock out the others.
    package var connectionsPerUIDMax = 256
    /// Open connections in all; well below the limit of open files.
    package var connectionsMax = 1024

    package init() {}
}
