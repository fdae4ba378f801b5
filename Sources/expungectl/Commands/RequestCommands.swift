import ArgumentParser
import Control
import ControlClient
import Encoding
import FoundationEssentials
import Glibc
import Lifecycle

struct DeleteAccount: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete-account",
        abstract: "Revoke a user's tokens at every provider, then erase the user's data."
    )

    @Argument(help: UserID.help) var user: UserID
    @OptionGroup var submit: SubmitOptions
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await submit.submit(.deleteAccount, user: user, providers: [], global)
    }
}

struct RevokeTokens: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke-tokens",
        abstract: "Revoke a user's tokens without erasing anything."
    )

    @Argument(help: UserID.help) var user: UserID
    @Option(help: "Only this provider; may be given more than once.")
    var provider: [ProviderName] = []
    @OptionGroup var submit: SubmitOptions
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await submit.submit(.revokeTokens, user: user, providers: provider, global)
    }
}

struct ListRequests: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List requests, newest first."
    )

    @Option(help: "Only this state.") var state: RequestState?
    @Option(help: "Only requests with an identity at this provider.") var provider: ProviderName?
    @Option(help: "Only this user.") var user: UserID?
    @Option(help: "The number of requests, 1 to 1000.") var limit = ControlLimits.listLimitDefault
    @Option(help: "The cursor of the previous page.") var cursor: String?
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard (1...ControlLimits.listLimitMax).contains(limit) else {
            throw ValidationError("--limit must be 1 to \(ControlLimits.listLimitMax)")
        }
    }

    func run() async throws {
        var filter = WireRequestFilter(limit: limit)
        filter.state = state
        filter.provider = provider
        filter.user = user
        filter.cursor = cursor
        let page = try await global.show(.list(filter)) { RequestReport.list($0.items) }
        if let next = page.nextCursor, !global.json {
            Console.writeError("more: expungectl list --cursor \(Table.harmless(next))")
        }
    }
}

struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show one request: identities, verdicts, steps, calls and times."
    )

    @Argument(help: RequestReference.help) var id: RequestReference
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.show(.show(try await global.resolve(id)), RequestReport.full)
    }
}

struct Plan: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show what a deletion would do, with counts, without doing it."
    )

    @Argument(help: "A user (- to read the id).") var user: UserID?
    @Option(help: "A request instead of a user: its plan and its changes.")
    var request: RequestReference?
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard (request == nil) != (user == nil) else {
            throw ValidationError("name either a user or a --request")
        }
    }

    func run() async throws {
        if let request {
            try await global.show(.plan(of: try await global.resolve(request)), PlanReport.full)
        } else if let user {
            try await global.show(.makePlan(for: user), PlanReport.full)
        }
    }
}

struct Approve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Approve the plan of a request, as another person than its submitter."
    )

    @Argument(help: RequestReference.help, completion: LiveValues.approve) var id: RequestReference
    @Option(help: "The hash of the plan that you read.") var plan: String
    @OptionGroup var global: GlobalOptions

    func run() async throws { try await global.act(.approve(plan: plan), on: id) }
}

struct Cancel: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Stop a request before its purge.")

    @Argument(help: RequestReference.help, completion: LiveValues.cancel) var id: RequestReference
    @OptionGroup var global: GlobalOptions

    func run() async throws { try await global.act(.cancel, on: id) }
}

struct Retry: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Try again now, whatever the request waits for."
    )

    @Argument(help: RequestReference.help, completion: LiveValues.retry) var id: RequestReference
    @OptionGroup var global: GlobalOptions

    func run() async throws { try await global.act(.retry, on: id) }
}

struct Abandon: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Give up a revocation, a store whose key was not found, or the rechecks.",
        discussion: """
            What waited for it, such as the purge, begins at once and cannot be undone. The \
            receipt says abandoned. A request that other_spelling blocks is cancelled if nothing \
            was purged. Otherwise it completes, and its receipt names the store as not erased.
            """
    )

    @Argument(help: RequestReference.help, completion: LiveValues.abandon) var id: RequestReference
    @Option(help: "The reason, for the receipt: no personal data.") var reason: String
    @Option(help: "Give up this provider only.") var provider: ProviderName?
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.act(.abandon(reason: reason, provider: provider), on: id)
    }
}

struct Receipt: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the receipt of a completed request, as JSON or as a page."
    )

    @Argument(help: RequestReference.help, completion: LiveValues.receipt) var id: RequestReference
    @Flag(help: "Print one page of HTML without scripts.") var html = false
    @Option(help: "The language of the page.") var language = MessageLanguage.english
    @Option(help: "The time zone of the page, such as Europe/Berlin; default: the machine's.")
    var timeZone: String?
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard let timeZone else { return }
        try TimeZoneFile.check(timeZone)
        unsafe setenv("TZ", timeZone, 1)
    }

    func run() async throws {
        let receipt = try await global.call(.receipt(try await global.resolve(id)))
        if html {
            tzset()
            let page = ReceiptPage(receipt: receipt, language: language, issuedAt: LocalTime.now)
            return Console.write(page.html)
        }
        // The console adds the newline again.
        Console.write(String(receipt.indentedText.dropLast()))
    }
}

struct Events: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print live changes until the service stops or Ctrl-C."
    )

    @Argument(help: "One request; without it, everything.") var id: RequestReference?
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let id: RequestID? = if let id { try await global.resolve(id) } else { nil }
        try await global.withClient { client in
            try await client.follow(id) { event in
                try global.print(event, Self.line(event), [])
                return true
            }
        }
    }

    private static func line(_ event: WireEvent) -> String {
        let parts = [
            event.at.rfc3339, event.kind.description, event.requestID?.description, event.step,
            event.provider, event.store, event.state, event.detail,
            event.verdict?.description, event.attempt.map { "attempt \($0)" },
        ]
        return Table.harmless(parts.compactMap { $0 }.joined(separator: "  "))
    }
}

struct Wait: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Wait for the end of requests, and exit as --wait does.",
        discussion: """
            The exit status is 0 if all completed, else that of the first in the list that did \
            not. A parked request counts as ended. A request that has not ended in time continues.
            """
    )

    @Argument(help: RequestReference.help) var ids: [RequestReference]
    @OptionGroup var limit: WaitLimit
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        var ids: [RequestID] = []
        for reference in self.ids { ids.append(try await global.resolve(reference)) }
        let requests = try await global.withClient(
            reconnectTimeout: SubmitOptions.waitReconnectTimeout
        ) { try await limit.wait(for: ids, $0, json: global.json) }
        let text = RequestReport.list(requests)
        if requests.count == 1, let only = requests.first {
            try global.print(only, text)
        } else {
            try global.print(WireList(requests), text)
        }
        if let code = requests.lazy.compactMap(SubmitOptions.exitStatus).first { throw code }
    }
}

struct WaitLimit: ParsableArguments {
    private static let secondsMax = 86_400

    @Option(
        name: .customLong("timeout"),
        help: ArgumentHelp(
            "Seconds to wait at most, 1 to \(Self.secondsMax).",
            valueName: "seconds"
        )
    )
    var seconds: Int?

    func validate() throws {
        guard seconds.map({ (1...Self.secondsMax).contains($0) }) ?? true else {
            throw ValidationError("--timeout takes 1 to \(Self.secondsMax)")
        }
    }

    /// Returns the requests as they are when all have ended, or when the time is over.
    func wait(
        for ids: [RequestID],
        _ client: ControlClient,
        json: Bool
    ) async throws -> [WireRequest] {
        let ended = try await withThrowingTaskGroup(of: [WireRequest]?.self) { group in
            group.addTask {
                var requests: [WireRequest] = []
                // One after the other: the end of the last is the end of all.
                for id in ids {
                    let narrate = SubmitOptions.narrate(json: json)
                    requests.append(try await client.waitForEnd(id, onChange: narrate))
                }
                return requests
            }
            if let seconds {
                group.addTask {
                    try await client.pause(.seconds(seconds))
                    return nil
                }
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
        if let ended { return ended }
        let names = ids.map(\.description).joined(separator: " ")
        Console.writeError("not ended in time; to wait on: expungectl wait \(names)")
        var requests: [WireRequest] = []
        for id in ids { requests.append(try await client.call(.show(id))) }
        return requests
    }
}
