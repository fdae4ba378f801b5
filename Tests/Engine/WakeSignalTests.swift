import Engine
import Testing

@Suite(.timeLimit(.minutes(5))) struct WakeSignalTests {
    @Test func `what is sent before the loop takes it is one signal`() async {
        let signal = WakeSignal()
        signal.send()
        signal.send()
        signal.finish()
        var count = 0
        for await _ in signal.signals { count += 1 }
        #expect(count == 1)
    }

    @Test func `a signal ends a wait whose time never comes`() async throws {
        let signal = WakeSignal()
        signal.send()
        try await signal.wait { try await BootClock.sleepForever() }
    }

    @Test func `the end of the time ends a wait without a signal`() async throws {
        let signal = WakeSignal()
        try await signal.wait {}
        signal.finish()
    }

    @Test func `a wait ends with its task`() async {
        let signal = WakeSignal()
        await #expect(throws: CancellationError.self) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await signal.wait { try await BootClock.sleepForever() } }
                group.cancelAll()
                try await group.waitForAll()
            }
        }
        signal.finish()
    }
}
