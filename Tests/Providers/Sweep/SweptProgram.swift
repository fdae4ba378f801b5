import Engine
import FoundationEssentials
import Lifecycle
import Sandbox
import Synchronization

@testable import Providers

/// A `command` provider whose program fails as the stand-ins do; its files say what is live.
final class SweptProgram: SweptWorld {
    /// Answers for tokens that are files; `KIND`, `SEED` and `COUNT` are files of the directory.
    ///
    /// One call in five fails, by a congruence of seed and call number (Knuth's multiplier of
    /// Numerical Recipes).
    private static let script = #"""
        cd "$1" || exit 69
        read -r request
        read -r kind seed count <plan
        count=$((count + 1)); echo "$kind $seed $count" >plan
        random=$((((seed * 7919 + count * 104729) * 1664525 + 1013904223) / 65536 % 5))
        token=${request#*'"secret":"'}; token=${token%%'"'*}
        fault=none; [ $random = 0 ] && { fault=$kind; echo x >>faults; }
        case $fault in
        timeout | server_error) kill -9 $$ ;;
        reset) exit 69 ;;
        throttled) echo '{"outcome":"throttled","retry_after_s":1}'; exit ;;
        unavailable) echo '{"outcome":"unreachable"}'; exit ;;
        html) echo '<!DOCTYPE html>'; exit ;;
        esac
        case $request in
        *'"operation":"revoke"'*)
            if [ -e "$token" ]; then rm "$token"; o=revoked; else o=already_invalid; fi ;;
        *'"operation":"check"'*) if [ -e "$token" ]; then o=live; else o=dead; fi ;;
        *) echo '{"outcome":"unknown"}'; exit ;;
        esac
        case $fault in
        truncated) printf '{"outcome":"' ;;
        wrong_content_type) printf '["%s"]' $o ;;
        response_lost) kill -9 $$ ;;
        *) printf '{"outcome":"%s"}' $o ;;
        esac
        """#

    let directory: String

    init() throws {
        directory =
            FileManager.default.temporaryDirectory
            .appendingPathComponent("expunged-swept-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: directory,
            withIntermediateDirectories: false
        )
    }

    func remove() throws { try FileManager.default.removeItem(atPath: directory) }

    func make(_ clock: any EngineClock) throws -> any ConnectedProvider {
        let kind = CommandKind(
            program: "/bin/sh",
            arguments: ["-c", Self.script, "sh", directory],
            canCheck: true,
            revokesWholeGrant: false,
            userActionURL: "",
            userActionText: ""
        )
        return try CommandProvider(
            kind,
            name: SweptProvider.name,
            clientIDs: [SweptProvider.command.clientID],
            sleep: { _ in try await BootClock.sleepForever() }
        )
    }

    func signIn(_ user: String) throws -> (credentials: [SweptCredential], subject: Secret?) {
        try tokens(user)
    }

    func tokens(_ user: String) throws -> (credentials: [SweptCredential], subject: Secret?) {
        let token = "token-\(user)-\(UUID().uuidString)"
        try write("", token)
        return ([SweptCredential(kind: .refreshToken, secret: Secret(token))], nil)
    }

    func withdraw(_ user: String) throws {
        for token in try files() where token.hasPrefix("token-\(user)-") {
            try FileManager.default.removeItem(atPath: "\(directory)/\(token)")
        }
    }

    func fail(_ kind: FaultKind, seed: UInt64) {
        do { try write("\(kind.rawValue) \(seed) 0\n", "plan") } catch {
            preconditionFailure("cannot write the plan: \(error)")
        }
    }

    func survivors() throws -> (grants: Set<String>, tokens: Set<String>) {
        let users = try files().filter { $0.hasPrefix("token-") }.map { name in
            String(name.dropFirst(6).prefix { $0 != "-" })
        }
        return (Set(users), Set(users))
    }

    var faultCount: Int {
        (FileManager.default.contents(atPath: "\(directory)/faults")?.count ?? 0) / 2
    }

    private func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory)
    }

    private func write(_ text: String, _ name: String) throws {
        try text.write(toFile: "\(directory)/\(name)", atomically: false, encoding: .utf8)
    }
}
