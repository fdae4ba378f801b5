import Lifecycle

/// One request that passed every check of the connection, and the backend that answers it.
package struct RouteCall: Sendable {
    let backend: any ControlBackend
    let caller: Caller
    /// The decoded parameters of the path, in its order.
    let values: [String]
    let query: Substring
    let idempotencyKey: String?
    /// The last event that the reader of a stream knows; 0 for an id that is none of ours.
    let lastEventID: Int64?
    /// Header fields; empty unless the route takes a raw body.
    let fields: [String: String]
    let body: [UInt8]

    package init(
        backend: any ControlBackend,
        caller: Caller,
        values: [String],
        query: Substring,
        idempotencyKey: String?,
        lastEventID: Int64? = nil,
        fields: [String: String],
        body: [UInt8]
    ) {
        (self.backend, self.caller, self.values) = (backend, caller, values)
        (self.query, self.idempotencyKey, self.lastEventID) = (query, idempotencyKey, lastEventID)
        (self.fields, self.body) = (fields, body)
    }

    var requestID: RequestID {
        get throws(ControlProblem) {
            guard let id = RequestID(values[0]) else { throw ControlProblem(.requestNotFound) }
            return id
        }
    }

    var user: UserID {
        get throws(ControlProblem) {
            guard let user = UserID(values[0]) else { throw ControlProblem(.malformedUserID) }
            return user
        }
    }

    /// The configured name at one place of the path; throws `unknown` when it cannot be a name.
    func name(
        at index: Int = 0,
        else unknown: ControlProblem.Code
    ) throws(ControlProblem) -> String {
        guard ComponentName.isValid(values[index]) else { throw ControlProblem(unknown) }
        return values[index]
    }
}
