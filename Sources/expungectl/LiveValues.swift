import ArgumentParser
import Control
import ControlClient
import Lifecycle

/// Completions that the service knows; none when it does not answer at once.
enum LiveValues {
    static let requests = values { client, prefix in
        var filter = WireRequestFilter()
        if RequestID.range(prefix: prefix) != nil { filter.idPrefix = prefix }
        return try await client.call(.list(filter)).items.map(\.id.description)
    }
    static let providers = values { client, _ in
        try await client.call(.providers).items.map(\.name)
    }
    static let targets = values { client, _ in try await client.call(.targets).items.map(\.name) }
    static let holds = values { client, _ in try await client.call(.holds).items.map(\.name) }

    private static func values(
        _ names: @escaping @Sendable (ControlClient, String) async throws -> [String]
    ) -> CompletionKind {
        .custom { words, _, prefix in
            var limits = ClientLimits()
            limits.callTimeout = .seconds(1)
            limits.reconnectTimeout = .zero
            let socket = socket(in: words)
            do {
                return try await ControlClient.with(socketPath: socket, limits: limits) { client in
                    try await names(client, prefix)
                }.filter { $0.hasPrefix(prefix) && $0 == Table.harmless($0) }
            } catch {
                return []
            }
        }
    }

    private static func socket(in words: [String]) -> String {
        for (index, word) in words.enumerated() {
            if word == "--socket", index + 1 < words.count { return words[index + 1] }
            if word.hasPrefix("--socket=") { return String(word.dropFirst("--socket=".count)) }
        }
        return GlobalOptions.defaultSocket
    }
}
