/// Rows of the route table; what a handler takes and gives is what the row documents.
///
/// The role is the operator's unless a row says otherwise.
extension Route {
    /// A row that takes no body and answers with one object.
    static func get<Answer: WireObject>(
        _ operation: Operation,
        _ pattern: String,
        _ summary: String,
        role: ControlRole = .operator,
        problems: [ControlProblem.Code] = [],
        _ handle: @escaping @Sendable (RouteCall) async throws(ControlProblem) -> Answer
    ) -> Route {
        bare(operation, pattern, summary, .object(Answer.self), role: role, problems: problems) {
            call throws(ControlProblem) in .object(try await handle(call))
        }
    }

    /// A row that viewers may call, too: they get what ``Viewable/forViewers`` leaves.
    static func view<Answer: Viewable>(
        _ operation: Operation,
        _ pattern: String,
        _ summary: String,
        role: ControlRole = .operator,
        problems: [ControlProblem.Code] = [],
        _ handle: @escaping @Sendable (RouteCall) async throws(ControlProblem) -> Answer
    ) -> Route {
        bare(
            operation,
            pattern,
            summary,
            .object(Answer.self),
            role: role,
            isViewable: true,
            problems: problems
        ) { call throws(ControlProblem) in
            let answer = try await handle(call)
            return .object(call.caller.role == .viewer ? answer.forViewers : answer)
        }
    }

    /// A row that does something and takes nothing.
    static func verb<Answer: WireObject>(
        _ operation: Operation,
        _ pattern: String,
        _ summary: String,
        status: Int = 200,
        problems: [ControlProblem.Code] = [],
        _ handle: @escaping @Sendable (RouteCall) async throws(ControlProblem) -> Answer
    ) -> Route {
        post(operation, pattern, summary, EmptyInput.self, status: status, problems: problems) {
            call,
            _ throws(ControlProblem) in try await handle(call)
        }
    }

    /// A row that takes one object and answers with one object.
    static func post<Input: WireInput, Answer: WireObject>(
        _ operation: Operation,
        _ pattern: String,
        _ summary: String,
        _: Input.Type,
        role: ControlRole = .operator,
        method: Method = .post,
        status: Int = 200,
        problems: [ControlProblem.Code] = [],
        location: (@Sendable (Answer) -> String)? = nil,
        _ handle: @escaping @Sendable (RouteCall, Input) async throws(ControlProblem) -> Answer
    ) -> Route {
        Route(
            operation: operation,
            method: method,
            pattern: pattern,
            role: role,
            isViewable: false,
            summary: summary,
            input: Input.self,
            answer: .object(Answer.self),
            successStatus: status,
            problems: problems
        ) { call throws(ControlProblem) in
            // The request or user that the path names is judged before the body.
            if pattern.contains("{id}") { _ = try call.requestID }
            if pattern.contains("{user_id}") { _ = try call.user }
            let answer = try await handle(call, Input(body: call.body))
            return .object(answer, location: location?(answer))
        }
    }

    /// A row without an object to read, whose handler makes the whole reply.
    static func bare(
        _ operation: Operation,
        _ pattern: String,
        _ summary: String,
        _ answer: Answer,
        method: Method = .get,
        role: ControlRole = .operator,
        isViewable: Bool = false,
        status: Int = 200,
        problems: [ControlProblem.Code] = [],
        _ handle: @escaping Handler
    ) -> Route {
        Route(
            operation: operation,
            method: method,
            pattern: pattern,
            role: role,
            isViewable: isViewable,
            summary: summary,
            input: nil,
            answer: answer,
            successStatus: status,
            problems: problems,
            handle: handle
        )
    }
}
