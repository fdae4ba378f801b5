import Engine
package import HTTP
package import Lifecycle

/// What a program or service of the operator's own is asked; docs/stores/command.md is the
/// contract.
package struct DelegatedQuestion: Sendable {
    /// The member `operation`.
    package enum Operation: String, Sendable, CaseIterable {
        case purge, verify, plan, diagnose, users
    }

    /// Which part of a listing is asked for.
    struct Page {
        /// No other page of any listing has it.
        let key: String
        /// What the answer before said; `nil` for the first page.
        let after: String?
    }

    /// A copy of the store that a drill works on; the operation `drill` is one that a program has
    /// to know.
    struct Drill {
        /// As the operator calls it.
        let copy: String
        /// No other drill has it: an answer that was kept for a key would be of another copy.
        let key: String
    }

    package let operation: Operation
    /// The same for every try of the same work.
    package let idempotencyKey: String
    package let body: JSONBody

    /// - Parameters:
    ///   - operation: What to do.
    ///   - store: The section's name.
    ///   - order: `nil` for a diagnosis.
    ///   - drill: `nil` for the store itself.
    ///   - look: Random, so that no cached answer fits; `nil` for a purge, which is the same at
    ///     every try.
    init(
        _ operation: Operation,
        of store: String,
        _ order: PurgeOrder?,
        in drill: Drill?,
        look: String?
    ) {
        self.operation = operation
        var body = Self.body(operation, of: store, in: drill)
        if let order {
            body.add("request_id", order.request.description)
            body.add("user_id", order.user.exposeText())
            body.add("created_before", order.cutoff.rfc3339)
        }
        self.body = body
        let work = order.map { $0.request.description } ?? "expunged"
        let parts = [work, order?.partitionKey, store, operation.rawValue, order?.attempt, look]
        idempotencyKey = Self.key(parts.compactMap(\.self).joined(separator: "."), in: drill)
    }

    init(usersOf store: String, _ page: Page, in drill: Drill?) {
        operation = .users
        var body = Self.body(.users, of: store, in: drill)
        if let after = page.after { body.add("after", after) }
        self.body = body
        idempotencyKey = Self.key("expunged.\(store).users.\(page.key)", in: drill)
    }

    private static func body(
        _ operation: Operation,
        of store: String,
        in drill: Drill?
    ) -> JSONBody {
        var body = JSONBody()
        body.add("version", 1)
        body.add("operation", drill == nil ? operation.rawValue : "drill")
        body.add("store", store)
        if let drill {
            body.add("step", operation.rawValue)
            body.add("copy", drill.copy)
        }
        return body
    }

    private static func key(_ work: String, in drill: Drill?) -> String {
        drill.map { "drill.\($0.key).\(work)" } ?? work
    }
}

/// What carries a question to the operator's own program or service and brings the answer.
package protocol PurgeDelegate: Sendable {
    /// Questions under way at a time.
    var concurrency: Int { get }

    /// Bounded in time by itself.
    func ask(_ question: DelegatedQuestion) async -> ObjectReply

    /// What to do about a failure of a diagnosis, in one sentence.
    func advice(_ failure: EffectFailure) -> String

    func shutdown() async
}
