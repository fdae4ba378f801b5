import Control

/// Bounds of the control server; a test may shorten the waits.
package struct ServerLimits: Sendable {
    /// From the first byte of a request to the end of its header fields: one small packet.
    package var headTimeout: Duration = .seconds(5)
    /// From the end of the header fields to the end of a body of at most 64 KiB.
    package var bodyTimeout: Duration = .seconds(10)
    /// How long the backend may take: a commit takes milliseconds, a check of a provider seconds.
    package var answerTimeout: Duration = .seconds(60)
    /// How long a large answer may take, with the wait for those before it of the same uid.
    package var largeAnswerTimeout: Duration = .seconds(20)
    /// How long a plan, and the approval of one, may take: counting a million rows takes seconds, a
    /// million objects minutes.
    package var planTimeout: Duration = .seconds(600)
    /// How long a connection may stay open with nothing asked.
    package var idleTimeout: Duration = .seconds(30)
    /// How long a peer may leave its answers unread once the buffers are full.
    package var writeTimeout: Duration = .seconds(10)
    /// How long a refused peer may take to read the refusal before the connection is cut.
    package var lingerTimeout: Duration = .seconds(1)
    /// How long a stream of events may be silent: below the idle timeouts of common proxies.
    package var heartbeatInterval: Duration = .seconds(15)
    /// How long the answers that are being worked on may take once the server is told to stop.
    package var drainTimeout: Duration = .seconds(10)
    /// How long a connection with nothing asked may stay then: a request may be on its way.
    package var graceTimeout: Duration = .milliseconds(250)
    /// The same for a connection on which nothing was ever asked: its client has just connected.
    package var firstGraceTimeout: Duration = .seconds(2)
    /// How long a listener without a free descriptor waits for one that no connection frees.
    package var acceptRetryDelay: Duration = .seconds(1)
    /// All header fields and the request line, in bytes: ours need less than one kilobyte.
    package var headByteCountMax = 8 * 1024
    /// Header fields of one request.
    package var headFieldCountMax = 64
    /// Open connections of one socket.
    package var connectionsMax = 512
    /// The part of a socket's connections that only root gets, as a divisor.
    package var rootShare = 8
    /// The part of a socket's connections that one uid gets, as a divisor.
    package var uidShare = 4
    /// Refused connections of one socket that may read why; further ones are cut at once.
    package var refusedMax = 64
    /// Large answers of one uid on one socket, until the peer has read them: a page of a thousand
    /// requests has about two megabytes.
    package var largeAnswersPerUIDMax = 2
    /// Large answers of one socket, those of root aside.
    package var largeAnswersMax = 8
    /// Streams of all events of one uid on one socket: each encodes every change.
    package var streamsPerUIDMax = 8
    /// Streams of all events of one socket, those of root aside.
    package var streamsMax = 32
    /// What one read takes from a peer, in bytes; what it sends ahead stays in the kernel.
    package var readByteCountMax = 8 * 1024
    /// Bytes of answers that wait in one connection before the next request is read.
    package var unreadByteCountMax = 32 * 1024

    /// Descriptors that the service asks for, as `LimitNOFILE=` of its unit: three sockets with the
    /// most connections that can be set, and ``ownDescriptorsMax``.
    package static let descriptorsMax = 16_384
    /// Descriptors that connections leave to files and calls, half of all at most: 32 providers
    /// have 64 calls each.
    static let ownDescriptorsMax = 2048

    package init() {}

    /// Divides the descriptors that are not for files and calls among the sockets.
    package mutating func fit(descriptors: Int, socketCount: Int) {
        let share = (descriptors - min(descriptors / 2, Self.ownDescriptorsMax)) / socketCount
        refusedMax = min(refusedMax, share / 4)
        connectionsMax = min(connectionsMax, max(2, share - refusedMax))
    }

    func timeout(of route: Route) -> Duration {
        if route.takesLong { return planTimeout }
        return route.hasLargeAnswer ? largeAnswerTimeout : answerTimeout
    }

    var connectionsPerUIDMax: Int { max(1, connectionsMax / uidShare) }

    /// Connections of one socket that all uids but root share.
    var sharedConnectionsMax: Int {
        max(1, connectionsMax - max(1, connectionsMax / rootShare))
    }
}
