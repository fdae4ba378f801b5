import ArgumentParser
import Control
import ControlClient
import Lifecycle

/// Completions that the service knows; none when it does not answer at once.
enum LiveValues {
    static let requests = values { client in
        try await client.call(.list(WireRequestFilter())).items.map(\.id.description)
    }
    static let providers = values { try await $0.call(.providers).items.map(\.name) }
    static let targets = values { try await $0.call(.targets).items.map(\.name) }
    static let holds = values { try await $0.call(.holds).items.map(\.name) }

    private static func values(
        _ names: @escaping @Sendable (ControlClient) async throws -> [String]
    ) -> CompletionKind {
        .custom { words, _, prefix in
            var limits = ClientLimits()
            limits.callTimeout = .seconds(1)
            limits.reconnectTimeout = .zero
            let socket = socket(in: words)
            do {
                return try await ControlClient.with(socketPath: socket, limits: limits, names)
                    .filter { $0.hasPrefix(prefix) && $0 == Table.harmless($0) }
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
