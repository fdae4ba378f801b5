import Testing

@testable import Engine

@Suite("The boot-time clock", .timeLimit(.minutes(5))) struct BootClockTests {
    @Test("a sleep lasts at least as long as it was told, and a negative one ends")
    func duration() async throws {
        for length in [Duration.milliseconds(20), .microseconds(1500), .zero, .seconds(-5)] {
            let begin = BootClock.now
            try await BootClock.sleep(for: length)
            #expect(BootClock.now - begin >= length)
        }
    }

    @Test(
        "cancellation ends a sleep, also the longest, before it began and after",
        arguments: [Duration.seconds(86_400), .seconds(Int64.max)]
    )
    func cancellation(length: Duration) async throws {
        for isEarly in [true, false] {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    if isEarly { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
                    try await BootClock.sleep(for: length)
                }
                // The other one has begun to sleep, or is cancelled before it has.
                if !isEarly { try await BootClock.sleep(for: .milliseconds(20)) }
                group.cancelAll()
                await #expect(throws: CancellationError.self) { try await group.next() }
            }
        }
    }

    @Test("sleeping for ever ends with the task only") func forever() async {
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await BootClock.sleepForever() }
            group.cancelAll()
            await #expect(throws: CancellationError.self) { try await group.next() }
        }
    }
}
