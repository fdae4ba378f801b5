import ArgumentParser
import Control
import ControlClient
import Encoding
import Lifecycle

/// What both ways to hand in a request take, and how they are carried out.
struct SubmitOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "An option of the request: grace_s, reason or account_created_at.",
            valueName: "key=value"
        )
    )
    var option: [String] = []

    @Option(
        help: ArgumentHelp(
            "The same key finds the same request again (default: a new one).",
            valueName: "key"
        )
    )
    var idempotencyKey: String?

    @Flag(help: "Wait for the end of the request; exit with its status.")
    var wait = false

    @OptionGroup var limit: WaitLimit

    /// How long a waiting client looks for a daemon that is restarting.
    static let waitReconnectTimeout = Duration.seconds(120)

    func validate() throws {
        guard wait || limit.seconds == nil else {
            throw ValidationError("--timeout needs --wait")
        }
    }

    func submit(
        _ kind: RequestKind,
        user: UserID,
        providers: [ProviderName],
        _ global: GlobalOptions
    ) async throws {
        var members = try option.map(Self.member)
        if !providers.isEmpty {
            members.append(.init("providers", .array(providers.map { .string($0.rawValue) })))
        }
        let options: SubmissionOptions
        do {
            options = try SubmissionOptions(members: members, kind: kind)
        } catch {
            throw ValidationError(error.detail)
        }
        let submission = WireSubmission(kind: kind, user: user, options: options)
        let key = idempotencyKey ?? Self.freshKey()
        let timeout = wait ? Self.waitReconnectTimeout : .seconds(2)
        let request = try await global.withClient(reconnectTimeout: timeout) { client in
            let request = try await client.call(.submit(submission, idempotencyKey: key))
            guard wait else { return request }
            return try await limit.wait(for: [request.id], client, json: global.json)[0]
        }
        try global.print(request, wait ? RequestReport.full(request) : request.id.description)
        if wait, let code = Self.exitStatus(request) { throw code }
    }

    /// Says once what a request waits for and what to do, and on a terminal each new state.
    static func narrate(json: Bool) -> (WireRequest) -> Void {
        let isLive = Console.isTerminal && !json
        var told: (state: String?, reasons: [String]) = (nil, [])
        return { request in
            let state = RequestReport.state(request)
            let reasons = RequestAdvice(request).reasons
            let isWaiting = !reasons.isEmpty && reasons != told.reasons
            guard isWaiting || isLive && state != told.state else { return }
            told = (state, isWaiting ? reasons : told.reasons)
            let id = request.id.description.prefix(RequestID.shortLength)
            let parts = [LocalTime.full(request.updatedAt), "\(id)", state]
            Console.writeError(Table.harmless(parts.joined(separator: "  ")))
            guard isWaiting else { return }
            for reason in reasons { Console.writeError("  " + Table.harmless(reason)) }
        }
    }

    static func exitStatus(_ request: WireRequest) -> CommandStatus? {
        switch request.state.known {
        case .parked: .parked
        case .rejected: .rejected
        case .cancelled: .cancelled
        case .completed: nil
        case .submitted, .accepted, .scheduled, .revoking, .purging, .verifying, nil: .timedOut
        }
    }

    private static func member(_ text: String) throws -> JSONValue.Member {
        guard let index = text.firstIndex(of: "=") else {
            throw ValidationError("an --option needs the form key=value")
        }
        let name = String(text[..<index])
        let value = String(text[text.index(after: index)...])
        if name == "grace_s", let seconds = Int64(value) {
            return JSONValue.Member(name, .integer(seconds))
        }
        return JSONValue.Member(name, .string(value))
    }

    static func freshKey() -> String {
        var entropy = SystemRandomNumberGenerator()
        return "expungectl-\(entropy.next(upperBound: UInt64.max))-\(entropy.next() as UInt64)"
    }
}
