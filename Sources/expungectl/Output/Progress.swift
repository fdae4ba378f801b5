import Glibc
import Lifecycle

/// One line on standard error that is written over, on a terminal only.
struct Progress {
    let isShown: Bool
    private let started = LocalTime.now

    init(_ global: GlobalOptions) {
        isShown = !global.json && isatty(STDOUT_FILENO) == 1 && isatty(STDERR_FILENO) == 1
    }

    func say(_ text: String) {
        guard isShown else { return }
        let span = LocalTime.span(LocalTime.now.since(started))
        let line = Table.clip("\(Table.harmless(text)), \(span)", to: Console.size.columns - 1)
        Console.put("\r\(line)\u{1b}[K", to: STDERR_FILENO)
    }

    func end() {
        if isShown { Console.put("\r\u{1b}[K", to: STDERR_FILENO) }
    }

    func during<R>(_ text: String, _ body: () async throws -> R) async throws -> R {
        defer { end() }
        return try await ticking(text, body)
    }

    private func ticking<R>(_ text: String, _ body: () async throws -> R) async throws -> R {
        async let _: Void = tick(text)
        return try await body()
    }

    private func tick(_ text: String) async {
        while isShown, !Task.isCancelled {
            say(text)
            do { try await Task.sleep(for: .seconds(1)) } catch { return }
        }
    }
}
