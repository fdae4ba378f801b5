import ArgumentParser
import Control
import ControlClient
import Lifecycle

/// Completions that the service knows; none when it does not answer at once.
enum LiveValues {
    static let requests = matching()
    static let approve = matching(.parked) { $0.waits(for: .awaitingApproval) }
    static let cancel = matching { $0.isBeforePurge }
    static let retry = matching { $0.isOpen || $0.detail == "data_returned" }
    static let hold = matching { $0.isOpen }
    static let release = matching(.parked) { $0.waits(for: .onHold) }
    static let reauthorize = matching(.parked) { $0.waits(for: .needsReauthentication) }
    static let receipt = matching(.completed)
    static let abandon = matching {
        $0.isBeforePurge || $0.waits(for: .withoutKeys) || $0.isSpelledOtherwise
            || !$0.isOpen && $0.nextAt != nil
    }
    static let providers = values { client, _ in
        try await client.call(.providers).items.map(\.name)
    }
    static let stores = values { client, _ in try await client.call(.stores).items.map(\.name) }
    static let holds = values { client, _ in try await client.call(.holds).items.map(\.name) }

    private static func matching(
        _ state: RequestState? = nil,
        where isAccepted: @escaping @Sendable (WireRequest) -> Bool = { _ in true }
    ) -> CompletionKind {
        values { client, prefix in
            var filter = WireRequestFilter(limit: ControlLimits.listLimitMax)
            filter.state = state
            if RequestID.range(prefix: prefix) != nil { filter.idPrefix = prefix }
            let found = try await client.call(.list(filter)).items.filter(isAccepted)
            return found.prefix(ControlLimits.listLimitDefault).map(\.id.description)
        }
    }

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

extension WireRequest {
    fileprivate var isOpen: Bool { ![.completed, .cancelled, .rejected].contains(state.known) }

    fileprivate var isBeforePurge: Bool {
        isOpen && ![.purging, .verifying].contains(state.known) && !waits(for: .storePaused)
            && !waits(for: .withoutKeys)
    }

    fileprivate var isSpelledOtherwise: Bool {
        isOpen && (blockedBy ?? []).contains { $0.error == Obstacle.Kind.spelling.rawValue }
    }

    fileprivate func waits(for reason: ParkReason) -> Bool { detail == reason.rawValue }
}
