import Engine
import FoundationEssentials
import Lifecycle
import Testing

@testable import HTTP
@testable import Providers

@Suite("A provider's program")
struct CommandTests {
    static func provider(
        _ script: String,
        _ arguments: [String] = [],
        program: String = "/bin/sh",
        sleep: @escaping Sleep = { _ in try await BootClock.sleepForever() }
    ) throws -> CommandProvider {
        let kind = CommandKind(
            program: program,
            arguments: ["-c", script, "sh"] + arguments,
            canCheck: true,
            revokesWholeGrant: false,
            userActionURL: "",
            userActionText: ""
        )
        let name = ProviderName("own")
        return try CommandProvider(kind, name: name, clientIDs: ["app"], sleep: sleep)
    }

    static func saying(_ answer: String) throws -> CommandProvider {
        try provider(#"cat >/dev/null; printf '%s' "$1""#, [answer])
    }

    static func credential(
        _ kind: CredentialKind = .refreshToken,
        _ secret: String = "canary-token",
        keeper: TokenKeeper? = nil
    ) -> OpenCredential {
        FamilyHarness.credential(kind, secret, client: "app", subject: "ann", keeper: keeper)
    }

    static let revocations: [(String, RevokeAnswer)] = [
        (#"{"outcome":"revoked"}"#, .success),
        (#"{"outcome":"already_invalid"}"#, .alreadyInvalid),
        (#"{"outcome":"grant_gone"}"#, .grantGone),
        (#"{"outcome":"unfit"}"#, .unfit),
        (#"{"outcome":"user_only"}"#, .userOnly),
        (#"{"outcome":"unreachable"}"#, .failure(.unreachable)),
        (#"{"outcome":"unknown"}"#, .failure(.lost)),
        (#"{"outcome":"misconfigured"}"#, .failure(.misconfigured)),
        (
            #"{"outcome":"throttled","retry_after_s":30}"#,
            .failure(.throttled(retryAfter: .seconds(30)))
        ),
        (#"{"outcome":"live"}"#, .failure(.unusable)),
        (#"{"outcome":true}"#, .failure(.unusable)),
        ("{}", .failure(.unusable)),
        ("revoked", .failure(.unusable)),
        (#""revoked""#, .failure(.unusable)),
        ("", .failure(.unusable)),
        (#"{"outcome":"revoked"}{"outcome":"revoked"}"#, .failure(.unusable)),
        (#"{"outcome":"revoked","outcome":"unfit"}"#, .failure(.unusable)),
    ]

    @Test("one JSON object with a known outcome is an answer", arguments: revocations)
    func revocation(_ text: String, _ answer: RevokeAnswer) async throws {
        #expect(try await Self.saying(text).revoke(Self.credential()) == answer)
    }

    @Test(
        "an exit status other than 0 is never an answer, whatever was written",
        arguments: [
            (1, EffectFailure.lost), (69, .unreachable), (70, .lost), (75, .lost),
            (78, .misconfigured),
        ]
    )
    func exitStatus(_ status: Int, _ failure: EffectFailure) async throws {
        let script = #"cat >/dev/null; echo '{"outcome":"revoked"}'; exit \#(status)"#
        let provider = try Self.provider(script)
        #expect(await provider.revoke(Self.credential()) == .failure(failure))
    }

    @Test("a program that dies, writes too much or is not there is failure")
    func failures() async throws {
        let killed = try Self.provider("kill -9 $$")
        #expect(await killed.revoke(Self.credential()) == .failure(.lost))
        let loud = try Self.provider("head -c 100000 /dev/zero")
        #expect(await loud.revoke(Self.credential()) == .failure(.lost))
        let missing = try Self.provider("", program: "/nonexistent/program")
        #expect(await missing.revoke(Self.credential()) == .failure(.misconfigured))
        #expect(throws: SetupError.self) { try Self.provider("", program: "relative") }
    }

    @Test("a program whose time is up is ended with all that it started")
    func timeout() async throws {
        let script = "/bin/sleep 600 & exec /bin/sleep 600"
        let provider = try Self.provider(script) { _ in }
        #expect(await provider.revoke(Self.credential()) == .failure(.lost))
    }

    @Test("what a program started is ended even if it ignores SIGTERM", .timeLimit(.minutes(5)))
    func stubborn() async throws {
        let place = TemporaryFile.make()
        defer { TemporaryFile.remove(place) }
        let child = #"trap "" TERM; echo $$ >"$1.env"; mv "$1.env" "$1"; exec sleep 600"#
        let script = #"sh -c "$2" sh "$1" >/dev/null 2>&1 & exec sleep 600"#
        let provider = try Self.provider(script, [place, child]) { _ in
            while !FileManager.default.fileExists(atPath: place) {
                try await BootClock.sleep(for: .milliseconds(5))
            }
        }
        #expect(await provider.revoke(Self.credential()) == .failure(.lost))
        let id = try String(contentsOfFile: place, encoding: .utf8).filter(\.isNumber)
        // One that has ended is a zombie until its new parent asks for it.
        while let status = FileManager.default.contents(atPath: "/proc/\(id)/status"),
            !String(decoding: status, as: UTF8.self).contains("State:\tZ")
        {
            try await BootClock.sleep(for: .milliseconds(5))
        }
    }

    @Test("the request is one JSON object on standard input; the environment holds nothing")
    func request() async throws {
        let place = TemporaryFile.make()
        defer { TemporaryFile.remove(place) }
        let script = #"cat >"$1"; env | sort >"$1.env"; echo '{"outcome":"revoked"}'"#
        let provider = try Self.provider(script, [place])
        var credential = Self.credential(.accessToken, "canary \"\\\n\u{e9}")
        #expect(await provider.revoke(credential) == .success)
        let text = try String(contentsOfFile: place, encoding: .utf8)
        #expect(
            text == #"{"version":1,"operation":"revoke","provider":"own","client_id":"app","#
                + #""kind":"access_token","secret":"canary \"\\\né","subject":"ann"}"#
        )
        let environment = try String(contentsOfFile: place + ".env", encoding: .utf8)
        let names = environment.split(separator: "\n").map { $0.prefix { $0 != "=" } }
        #expect(Set(names).isSubset(of: ["LANG", "PATH", "PWD", "OLDPWD", "SHLVL", "_"]))
        credential = Self.credential(.authorizationCode)
        _ = await provider.exchange(credential)
        let exchange = try String(contentsOfFile: place, encoding: .utf8)
        #expect(exchange.contains(#""operation":"exchange""#))
    }

    @Test("a rotated refresh token is kept before the token counts as live")
    func rotation() async throws {
        let provider = try Self.saying(#"{"outcome":"live","refresh_token":"new"}"#)
        let kept = KeptTokens()
        #expect(await provider.check(Self.credential(keeper: kept.keeper)) == .live)
        #expect(kept.all == ["new"])
        #expect(await provider.check(Self.credential()) == .failure(.lost))
        #expect(try await Self.saying(#"{"outcome":"dead"}"#).check(Self.credential()) == .dead)
        #expect(try await Self.saying(#"{"outcome":"live"}"#).check(Self.credential()) == .live)
    }

    @Test(
        "an exchange brings tokens or a refusal",
        arguments: [
            (
                #"{"outcome":"exchanged","refresh_token":"r","subject":"s","expires_in_s":60}"#,
                "exchanged refresh=true access=false subject=s"
            ),
            (#"{"outcome":"exchanged"}"#, "failure unusable"),
            (#"{"outcome":"refused"}"#, "refused"),
            (#"{"outcome":"unknown"}"#, "failure lost"),
        ]
    )
    func exchange(_ text: String, _ summary: String) async throws {
        let answer = try await Self.saying(text).exchange(Self.credential(.authorizationCode))
        #expect(answer.summary == summary)
    }

    @Test("a self-check is well only when the program says so")
    func diagnose() async throws {
        #expect(try await Self.saying(#"{"outcome":"ok"}"#).diagnose() == nil)
        #expect(try await Self.saying("{}").diagnose() == .unusable)
    }
}
