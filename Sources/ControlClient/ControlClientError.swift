package import Control

/// Why a call of the control API brought no result.
package struct ControlClientError: Error, Sendable, CustomStringConvertible {
    /// What went wrong.
    package enum Kind: Sendable, Hashable {
        /// No process listens at the socket, or the connection was lost for too long.
        case unreachable
        /// The socket may not be opened by this user.
        case permissionDenied
        /// No answer within the time of a call.
        case timedOut
        /// An answer that is not what the API documents.
        case malformedAnswer
        /// The daemon restarted during every try of a replay.
        case interrupted
        /// The daemon answered with a problem.
        case refused(WireProblem)
    }

    package let kind: Kind
    package let socketPath: String

    package var problem: WireProblem? {
        guard case .refused(let problem) = kind else { return nil }
        return problem
    }

    package var description: String {
        switch kind {
        case .unreachable: "cannot reach the daemon at '\(socketPath)' (unreachable)"
        case .permissionDenied: "cannot reach the daemon at '\(socketPath)' (permission denied)"
        case .timedOut: "cannot get an answer at '\(socketPath)' (timed out)"
        case .malformedAnswer: "cannot read the answer at '\(socketPath)' (malformed)"
        case .interrupted: "cannot end the replay at '\(socketPath)' (the daemon restarts)"
        case .refused(let problem): "\(problem.detail) (\(problem.code))"
        }
    }
}
