import Lifecycle
import Synchronization
import Testing

@testable import Engine

@Suite(.timeLimit(.minutes(5)))
struct AnchoredClockTests {
    /// Both clocks of a machine, moved by a test.
    private final class Machine: Sendable {
        private let wallTime = Mutex(Sample.start)
        private let upTime = Mutex(Duration.seconds(100))
        /// Each reading of the wall clock, or the last two.
        let (readings, reading) = AsyncStream<Void>.makeStream(
            bufferingPolicy: .bufferingNewest(2)
        )

        var clocks: MachineClocks {
            MachineClocks(
                wall: {
                    defer { self.reading.yield() }
                    return self.wallTime.withLock { $0 }
                },
                uptime: { self.upTime.withLock { $0 } }
            )
        }

        /// Time passes.
        func pass(_ time: Duration, drift: Duration = .zero) {
            wallTime.withLock { $0 = $0 + time + drift }
            upTime.withLock { $0 += time }
        }

        /// Somebody sets the clock.
        func set(by step: Duration) { wallTime.withLock { $0 = $0 + step } }
    }

    @Test func `it follows a slew and never goes back`() {
        let machine = Machine()
        let clock = AnchoredClock(clocks: machine.clocks)
        machine.pass(.seconds(60), drift: .milliseconds(500))
        #expect(clock.now() == Sample.start + .milliseconds(60_500))
        machine.set(by: .milliseconds(-900))
        #expect(clock.now() == Sample.start + .milliseconds(60_500))
        machine.pass(.seconds(1))
        #expect(clock.now() == Sample.start + .milliseconds(60_600))
        #expect(clock.stepCount == 0)
    }

    @Test(
        "a step is followed and reported with the time of the wrong clock",
        arguments: [
            Duration.seconds(365 * 86_400), .seconds(-365 * 86_400), .seconds(3), .seconds(-3),
        ]
    )
    func step(_ jump: Duration) {
        let machine = Machine()
        let clock = AnchoredClock(clocks: machine.clocks)
        let heard = Mutex<[ClockStep]>([])
        clock.onStep { step in heard.withLock { $0.append(step) } }
        machine.pass(.seconds(10))
        machine.set(by: jump)
        #expect(clock.now() == Sample.start + .seconds(10) + jump)
        let to = Sample.start + .seconds(10)
        let step = ClockStep(from: Sample.start, to: to, by: jump, number: 1)
        #expect(heard.withLock { $0 } == [step])
        #expect(clock.stepCount == 1)
        machine.pass(.seconds(5))
        #expect(clock.now() == Sample.start + .seconds(15) + jump)
        #expect(clock.stamp().time == Sample.start + .seconds(15) + jump)
        #expect(clock.stamp().stepCount == 1)
    }

    @Test func `it knows what it showed before it was set back, also before the start`() {
        let machine = Machine()
        let clock = AnchoredClock(clocks: machine.clocks)
        machine.pass(.seconds(10))
        #expect(!clock.hasShown(Sample.start + .seconds(4)), "it may be right")
        machine.set(by: .zero - Sample.day)
        _ = clock.now()
        #expect(clock.hasShown(Sample.start + .seconds(4)))
        #expect(!clock.hasShown(Sample.start + .seconds(40)))
        let earlier = Sample.start + .seconds(5 * 86_400)
        let missed = ClockStep(from: earlier, to: earlier + .seconds(9), by: .seconds(-86_400))
        clock.learn(missed)
        #expect(clock.hasShown(earlier + .seconds(4)))
        #expect(clock.stepCount == 1)
    }

    @Test func `a row that was dated by a clock that was behind is as new as it is`() {
        let machine = Machine()
        let clock = AnchoredClock(clocks: machine.clocks)
        machine.pass(.seconds(10))
        machine.set(by: Sample.day)
        _ = clock.now()
        #expect(
            clock.corrected(Sample.start + .seconds(4)) == Sample.start + .seconds(4) + Sample.day
        )
        let earlier = Sample.start - .seconds(4)
        #expect(clock.corrected(earlier) == earlier)
    }

    @Test func `a row of before several steps gets all of them`() {
        let machine = Machine()
        let clock = AnchoredClock(clocks: machine.clocks)
        for step in [Sample.day * 364, .seconds(-7200), Sample.day] {
            machine.pass(.seconds(60))
            machine.set(by: step)
            _ = clock.now()
        }
        let dated = Sample.start + .seconds(4)
        #expect(clock.corrected(dated) == dated + Sample.day * 365 - .seconds(7200))
        let between = Sample.start + Sample.day * 364 + .seconds(90)
        #expect(clock.corrected(between) == between + Sample.day - .seconds(7200))
    }

    @Test(
        "what is dated right after a jump is covered by the next, also after a slew back",
        arguments: [Duration.seconds(7200), .milliseconds(100)]
    )
    func slewBeforeJump(_ age: Duration) {
        let machine = Machine()
        let clock = AnchoredClock(clocks: machine.clocks)
        let heard = Mutex<[ClockStep]>([])
        clock.onStep { step in heard.withLock { $0.append(step) } }
        machine.pass(age)
        _ = clock.now()
        machine.set(by: .milliseconds(-1500))
        _ = clock.now()
        machine.set(by: .zero - Sample.day)
        let dated = clock.now()
        machine.pass(.seconds(5))
        machine.set(by: Sample.day)
        _ = clock.now()
        #expect(heard.withLock { $0.last?.covers(dated) } == true)
    }

    @Test func `who listens late hears of the steps since the time was taken over`() {
        let machine = Machine()
        let clock = AnchoredClock(clocks: machine.clocks)
        machine.set(by: Sample.day)
        #expect(clock.takeOver().time == Sample.start + Sample.day)
        for _ in 0..<40 {
            machine.pass(.seconds(1))
            machine.set(by: .seconds(3600))
            _ = clock.now()
        }
        let heard = Mutex<[ClockStep]>([])
        clock.onStep { step in heard.withLock { $0.append(step) } }
        let steps = heard.withLock { $0 }
        let sum = steps.reduce(Duration.zero) { $0 + $1.by }
        #expect(sum == .seconds(40 * 3600))
        #expect(steps.last?.number == 41)
        machine.set(by: .seconds(5))
        _ = clock.now()
        #expect(heard.withLock { $0.last?.number } == 42)
    }

    @Test func `a thread that was held up while it read the clocks makes no step`() async {
        let machine = Machine()
        let clock = AnchoredClock(clocks: machine.clocks)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for number in 0..<2000 {
                    machine.pass(.milliseconds(1))
                    machine.set(by: .seconds(number % 2 == 0 ? 3600 : -3600))
                    _ = clock.now()
                }
            }
            for _ in 0..<8 {
                group.addTask { for _ in 0..<20_000 { _ = clock.now() } }
            }
        }
        #expect(clock.stepCount == 2000)
    }

    @Test func `every sleep ends with a step`() async throws {
        let machine = Machine()
        let clock = AnchoredClock(clocks: machine.clocks)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await clock.sleep(until: Sample.start + Sample.day * 3650) }
            // The first is that of the clock's start; by the second the sleep has begun.
            var count = 0
            for await _ in machine.readings {
                count += 1
                if count == 2 { break }
            }
            machine.set(by: .seconds(-3600))
            _ = clock.now()
            try await group.waitForAll()
        }
    }

    @Test func `a timer that fired early is set again`() {
        var timers = ArmedTimers()
        let time = Sample.start + .seconds(30)
        let armed = [0, 0, 1].map { timers.arm(time, at: Sample.start, stepCount: $0) }
        #expect(armed == [true, false, true])
    }
}
