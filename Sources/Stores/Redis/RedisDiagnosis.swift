import Lifecycle

/// Tries everything that a purge does on names that nobody has.
struct RedisDiagnosis {
    let settings: RedisKind
    let connection: RedisConnection

    /// One sentence per problem.
    ///
    /// - Throws: ``RedisError`` when the connection fails.
    func problems() async throws(RedisError) -> [String] {
        let info = RedisInfo(try await connection.send([RedisInfo.command("replication")])[0])
        if info["role"] == "slave" {
            return ["the server is a replica; give the address of its primary"]
        }
        var problems: [String] = []
        // 128 random bits: no user has this id, and it holds no separator.
        let digits = (0..<4).map { _ in String(UInt32.random(in: .min ... .max), radix: 16) }
        guard let nobody = UserID(digits.joined()) else { return [] }
        for pattern in settings.keys {
            let name = pattern.names(of: nobody)?.sample ?? []
            let probes = [[Array("UNLINK".utf8), name], [Array("EXISTS".utf8), name]]
            problems += try await refused(probes, for: "\(pattern)")
        }
        let hasWildcard =
            settings.keys.contains { !$0.isExact }
            || settings.members.contains { NameGlob($0.key).exactName == nil }
        if hasWildcard {
            let probe = ["SCAN", "0", "COUNT", "1"].map { Array($0.utf8) }
            if case .error = try await connection.send([probe])[0] {
                problems.append(sentence("SCAN", for: "a wildcard"))
            }
        }
        for rule in settings.members { problems += try await self.problems(of: rule, nobody) }
        return problems
    }

    /// What an operator should know: in the wrong database every user is clean.
    ///
    /// - Throws: ``RedisError`` when the connection fails.
    func advice() async throws(RedisError) -> [String] {
        // A user may lack the right to ask.
        let size = try await connection.send([[Array("DBSIZE".utf8)]])[0]
        guard size == .integer(0) else { return [] }
        return ["database \(settings.database) has no keys; see whether it is the application's"]
    }

    private func problems(
        of rule: RedisKind.MemberRule,
        _ nobody: UserID
    ) async throws(RedisError) -> [String] {
        let glob = NameGlob(rule.key)
        let key = glob.sample
        let type = try await connection.send([[Array("TYPE".utf8), key]])[0]
        if case .error = type { return [sentence("TYPE", for: rule.description)] }
        let kind = RedisMemberKind(type)
        guard kind != nil || type == .simple(Array("none".utf8)) || glob.exactName == nil else {
            return ["the key '\(rule.key)' is no hash, set or sorted set"]
        }
        let member = rule.member.names(of: nobody)?.sample ?? []
        // A key that is not there yet may become any of the three.
        let kinds = kind.map { [$0] } ?? [RedisMemberKind.hash, .set, .sortedSet]
        var problems: [String] = []
        for kind in kinds {
            var probes = [[kind.remove, key, member], [kind.find, key, member]]
            if !rule.member.isExact { probes.append([kind.scan, key, Array("0".utf8)]) }
            problems += try await refused(probes, for: rule.description)
        }
        return problems
    }

    private func refused(
        _ probes: [[[UInt8]]],
        for rule: String
    ) async throws(RedisError) -> [String] {
        zip(probes, try await connection.send(probes)).compactMap { probe, reply in
            guard case .error(let code) = reply, code != "WRONGTYPE" else { return nil }
            return sentence(String(decoding: probe[0], as: UTF8.self), for: rule)
        }
    }

    private func sentence(_ command: String, for rule: String) -> String {
        "the server refuses \(command) for '\(rule)' (ACL SETUSER: ~KEY +\(command.lowercased()))"
    }

    static func advice(_ error: RedisError, _ settings: RedisKind) -> String {
        let place =
            switch settings.address {
            case .socket(let path): path
            case .host(let host, let port, _): "\(host):\(port)"
            }
        return switch error {
        case .unreachable:
            "no Redis answers at '\(place)', or its certificate is not the host's (address, socket,"
                + " ca_file)"
        case .lost: "the server at '\(place)' ended the connection or did not answer in time"
        case .unauthenticated:
            "the server at '\(place)' wants another user or password (username,"
                + " password_credential)"
        case .denied: "the user may not select database \(settings.database) at '\(place)'"
        case .cluster:
            "the server at '\(place)' is part of a cluster, which the kind redis does not purge"
        case .busy: "the server at '\(place)' is loading, failing over or a replica"
        case .wrongType, .unusable: "the server at '\(place)' gave no answer of Redis"
        case .unusableFile: "ca_file cannot be read or holds no certificate"
        }
    }
}

extension NameGlob {
    /// A name that fits.
    fileprivate var sample: [UInt8] { Array(literals.joined(separator: Array("x".utf8))) }
}
