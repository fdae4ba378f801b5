import Lifecycle
import Sandbox
import TestSupport
import Testing

@testable import HTTP

@Suite("the accounts of Firebase")
struct IdentityToolkitTests {
    @Test("an account is found with its links, its sessions end, and it is deleted once")
    func life() async throws {
        try await CloudBench.with { bench in
            let accounts = try bench.accounts()
            let user = try #require(UserID("u1"))
            bench.sandbox.add(
                CloudAccount(
                    "u1",
                    links: [.init("apple.com", rawID: "0001.a"), .init("password", rawID: "x")],
                    createdAtMilliseconds: 1_700_000_000_000
                )
            )
            guard case .account(let account) = await accounts.find(user) else {
                Issue.record("not found")
                return
            }
            #expect(account.links.map(\.providerID) == ["apple.com", "password"])
            #expect(account.createdAt == WallTime(unixMilliseconds: 1_700_000_000_000))
            #expect("\(account)" == "[redacted]")
            #expect(
                Self.word(await accounts.endSessions(of: user, before: bench.clock.now())) == "done"
            )
            let since = bench.clock.now().unixMilliseconds / 1000
            #expect(bench.sandbox.account("u1")?.validSinceSeconds == since)
            #expect(Self.word(await accounts.delete(user)) == "done")
            #expect(Self.word(await accounts.delete(user)) == "none")
            #expect(bench.sandbox.account("u1") == nil)
            guard case .none = await accounts.find(user) else {
                Issue.record("found after the deletion")
                return
            }
        }
    }

    @Test(
        "a fault is failure and never an account that is gone",
        arguments: [
            (FaultKind.serverError, "unusable_answer"), (.html, "unusable_answer"),
            (.wrongContentType, "unusable_answer"), (.truncated, "lost"), (.reset, "lost"),
            (.unavailable, "throttled"), (.throttled, "throttled"),
        ]
    )
    func faults(kind: FaultKind, code: String) async throws {
        try await CloudBench.with { bench in
            let accounts = try bench.accounts()
            let user = try #require(UserID("u1"))
            bench.sandbox.inject(kind, at: .data)
            guard case .failure(let failure) = await accounts.find(user) else {
                Issue.record("no failure")
                return
            }
            #expect(failure.code == code)
            bench.sandbox.inject(kind, at: .data)
            #expect(Self.word(await accounts.delete(user)) == code)
        }
    }

    @Test("another project, and an id that cannot be one, are told apart")
    func places() async throws {
        try await CloudBench.with { bench in
            let other = try IdentityToolkit(
                IdentityToolkit.Place(
                    baseURL: bench.sandbox.baseURL + "/cloud/identitytoolkit",
                    project: "foreign"
                ),
                client: GoogleClient(
                    client: bench.client,
                    tokens: try bench.source(),
                    now: { bench.clock.now() }
                ),
                settings: bench.settings
            )
            #expect(await other.diagnose() == .misconfigured)
            let accounts = try bench.accounts()
            #expect(await accounts.diagnose() == nil)
            let long = try #require(UserID(String(repeating: "a", count: 129)))
            #expect(Self.word(await accounts.delete(long)) == "none")
        }
    }

    private static func word(_ change: IdentityToolkit.Change) -> String {
        switch change {
        case .done: "done"
        case .none: "none"
        case .failure(let failure): failure.code
        }
    }
}
