import Foundation
import Glibc
import Lifecycle
import NIOPosix

@testable import Stores

/// Three masters and a replica of the first, on the loopback interface.
///
/// They end when its standard input does, so that nothing is left however the tests end.
final class RedisClusterServer: Sendable {
    static let shared = Result { try RedisClusterServer(.redis) }
    static let valkey = Result { try RedisClusterServer(.valkey) }

    let folder: String
    /// Of the first master; the others and the replica follow.
    let port: Int
    private let process: Process
    private let input = Pipe()

    private static let script = """
        set -eu; trap '' PIPE
        dir=$1 program=$(command -v $2)
        [ -x "$program" ] || { echo "no $2: run scripts/setup test"; exit 1; }
        cd "$dir"
        exec 2>>log
        # Asked for several, kill is content with one of them.
        all_live() { for pid in $pids; do kill -0 $pid || return 1; done; }
        launch() {
            # Their second ports, 10,000 higher, lie below those of outgoing connections.
            port=$((11000 + RANDOM % 2000)) pids=
            for number in 0 1 2 3; do
                mkdir -p $number && rm -f $number/nodes.conf
                "$program" --port $((port + number)) --bind 127.0.0.1 --cluster-enabled yes \\
                    --cluster-config-file nodes.conf --cluster-node-timeout 60000 \\
                    --dir "$dir/$number" --save '' --appendonly no \\
                    --pidfile "$dir/$number/pid" </dev/null >>log 2>&1 &
                pids="$pids $!"
            done
            for number in 0 1 2 3; do
                until [ "$(timeout 2 redis-cli -p $((port + number)) ping)" = PONG ]; do
                    all_live || return 1
                done
            done
            all_live
        }
        # A port may be somebody else's.
        for try in 1 2 3 4 5; do
            if launch; then break; fi
            kill -KILL $pids || true
            wait $pids || true
            [ $try != 5 ] || { cat log; exit 1; }
        done
        redis-cli --cluster create 127.0.0.1:$port 127.0.0.1:$((port + 1)) \\
            127.0.0.1:$((port + 2)) --cluster-yes >>log 2>&1
        first=$(redis-cli -p $port cluster myid)
        until redis-cli -p $((port + 3)) cluster meet 127.0.0.1 $port >>log 2>&1 &&
            redis-cli -p $((port + 3)) cluster replicate "$first" 2>&1 | grep -q OK; do
            sleep 0.2
        done
        for number in 0 1 2 3; do
            until redis-cli -p $((port + number)) cluster info | grep -q cluster_state:ok; do
                sleep 0.1
            done
        done
        until redis-cli -p $((port + 3)) info replication | grep -q master_link_status:up; do
            sleep 0.1
        done
        echo $port || true  # also where whoever waits is gone
        cat >/dev/null || true
        # The thread that started it may have had all signals blocked, so that only this ends it.
        kill -KILL $pids || true
        wait $pids || true
        cd / && rm -rf -- "$dir"
        """

    init(_ kind: RedisKind) throws {
        folder = "/tmp/expunged-cluster-\(getpid())-\(UInt16.random(in: 0...UInt16.max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-c", Self.script, "server", folder, kind.program]
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let said = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = Int(said.dropLast()) else { throw ServerFailure(text: said) }
        self.port = port
    }

    /// Runs one command by the server's own client, which follows redirections unless `at` names a
    /// node.
    @discardableResult
    func cli(at node: Int? = nil, _ words: String...) throws -> [String] {
        let client = Process()
        client.executableURL = URL(fileURLWithPath: "/usr/bin/redis-cli")
        let place = node.map { ["-p", "\(port + $0)"] } ?? ["-c", "-p", "\(port + 1)"]
        client.arguments = place + words
        let output = Pipe()
        client.standardOutput = output
        client.standardError = output
        let text = String(decoding: try client.runToEnd(reading: output), as: UTF8.self)
        guard client.terminationStatus == 0, !text.hasPrefix("ERR") else {
            throw ServerFailure(text: text)
        }
        return text.split(separator: "\n").map(String.init)
    }

    /// The keys of all masters.
    var keys: [String] {
        get throws {
            var keys: [String] = []
            for node in 0..<4 where try cli(at: node, "ROLE").first == "master" {
                keys += try cli(at: node, "KEYS", "*").filter { !$0.isEmpty }
            }
            return keys.sorted()
        }
    }

    /// Makes the replica a master, and waits until all know.
    func failOver() throws {
        let script = """
            offset() { redis-cli -p $1 info replication | grep -o 'master_repl_offset:[0-9]*'; }
            # What the replica has not got would be lost, and a vote may come to nothing.
            until [ "$(offset $1)" = "$(offset $(($1 + 3)))" ]; do sleep 0.05; done
            redis-cli -p $(($1 + 3)) cluster failover takeover
            for number in 0 1 2 3; do
                until redis-cli -p $(($1 + number)) cluster nodes | grep ":$(($1 + 3))@" |
                    grep -q 'master.*connected .*-'; do sleep 0.05; done
                until redis-cli -p $(($1 + number)) cluster nodes | grep ":$1@" | grep -q slave
                do sleep 0.05; done
            done
            """
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/usr/bin/timeout")
        shell.arguments = ["300", "/bin/bash", "-c", script, "failover", "\(port)"]
        shell.standardOutput = Pipe()
        try shell.run()
        shell.waitUntilExit()
        guard shell.terminationStatus == 0 else {
            let nodes = try cli(at: 3, "CLUSTER", "NODES").joined(separator: "; ")
            throw ServerFailure(text: "not all know of the failover in 300 s: \(nodes)")
        }
    }

    func clear() throws {
        for node in 0..<4 where try cli(at: node, "ROLE").first == "master" {
            try cli(at: node, "FLUSHALL")
        }
    }

    func plan(
        _ keys: [String],
        _ members: [(String, String)] = []
    ) throws -> RedisTargetPlan {
        var plan = RedisTargetPlan(
            name: TargetName("cache"),
            address: .host("127.0.0.1", port: port, isPlain: true)
        )
        plan.timeout = .seconds(120)
        plan.keys = try keys.map { try UserPattern($0) }
        plan.members = try members.map { key, member in
            RedisTargetPlan.MemberRule(key: key, member: try UserPattern(member))
        }
        return plan
    }

    func target(
        _ plan: RedisTargetPlan,
        rest: @escaping @Sendable (Duration) async throws -> Void = { _ in }
    ) -> RedisTarget {
        RedisTarget(
            plan: plan,
            on: MultiThreadedEventLoopGroup.singleton,
            clock: .patient(rest: rest)
        )
    }
}
