import Testing

/// The databases that can hold the state.
enum StateKind: String, CaseIterable, Sendable {
    case sqlite, postgresql

    /// What fixtures of the present test use.
    @TaskLocal static var current = StateKind.sqlite
    /// For the first fixture of the present test.
    @TaskLocal static var prepared: PreparedState?
}

/// Runs each test of a suite once with every database.
struct OnEachDatabase: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    /// Each test has some connections, and a server has not many.
    private static let permits = Permits(8)

    @concurrent func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let isForOne = test.traits.contains { $0 is OnlySQLite }
        for kind in isForOne ? [.sqlite] : StateKind.allCases {
            try await StateKind.$current.withValue(kind) {
                let naming = IssueHandlingTrait.compactMapIssues { issue in
                    var named = issue
                    named.comments.append("with \(kind.rawValue)")
                    return named
                }
                let permits = kind == .sqlite ? nil : Self.permits
                await permits?.take()
                do {
                    let state = kind == .sqlite ? nil : try await StateServer.prepare()
                    try await StateKind.$prepared.withValue(state) {
                        try await naming.provideScope(
                            for: test,
                            testCase: testCase,
                            performing: function
                        )
                    }
                } catch {
                    await permits?.giveBack()
                    throw error
                }
                await permits?.giveBack()
            }
        }
    }
}

/// A bound on what runs at once.
private actor Permits {
    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ count: Int) { free = count }

    func take() async {
        guard free == 0 else {
            free -= 1
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    func giveBack() {
        guard waiting.isEmpty else { return waiting.removeFirst().resume() }
        free += 1
    }
}

/// A test of a suite about what only SQLite has, such as its files.
struct OnlySQLite: TestTrait {}

extension Trait where Self == OnlySQLite {
    static var onlySQLite: Self { Self() }
}

extension Trait where Self == OnEachDatabase {
    static var onEachDatabase: Self { Self() }
}
