import Control
import Lifecycle
import Testing

@testable import Daemon

@Suite("A reader of events that comes back")
struct EventHubTests {
    private let hub = EventHub(startedAt: Bench.start)

    private func tell(_ count: Int, about request: RequestID? = nil) {
        for _ in 0..<count {
            let fact = LiveChange.Fact.request(.revoking, detail: nil)
            hub.tell(LiveChange(request: request, at: Bench.start, fact: fact))
        }
    }

    /// What the reader gets before the next event.
    private func heard(
        after last: Int64?,
        of request: RequestID? = nil
    ) async -> [WireEvent] {
        let stream = hub.listen(to: request, after: last, at: Bench.start)
        hub.close()
        return await stream.reduce(into: []) { $0.append($1) }
    }

    @Test func `hears what it missed`() async {
        tell(3)
        let first = Bench.start.unixMilliseconds * 1000 + 1
        #expect(await heard(after: first).map(\.sequence) == [first + 1, first + 2])
        #expect(await heard(after: first + 2).isEmpty)
        #expect(await heard(after: nil).isEmpty)
    }

    @Test func `hears of its request only`() async {
        let id = RequestID(TimeOrderedID(high: 1, low: 1))
        tell(2)
        tell(1, about: id)
        tell(2)
        let first = Bench.start.unixMilliseconds * 1000 + 1
        #expect(await heard(after: first, of: id).map(\.requestID) == [id])
    }

    @Test func `hears no more once its request has ended`() async {
        let id = RequestID(TimeOrderedID(high: 1, low: 1))
        let (own, all) = (hub.listen(to: id), hub.listen(to: nil))
        tell(1, about: id)
        #expect(hub.followed == [id])
        let end = LiveChange.Fact.request(.completed, detail: nil)
        hub.tell(LiveChange(request: id, at: Bench.start, fact: end))
        #expect(hub.followed.isEmpty)
        let heard: [WireEvent] = await own.reduce(into: []) { $0.append($1) }
        #expect(heard.map(\.state) == ["revoking", "completed"])
        tell(1, about: id)
        hub.close()
        let others: [WireEvent] = await all.reduce(into: []) { $0.append($1) }
        #expect(others.count == 3)
    }

    @Test func `is told to read the state when it missed more than is kept`() async {
        tell(5000)
        let last = Bench.start.unixMilliseconds * 1000 + 5000
        #expect(await heard(after: last - 2000).map(\.kind) == [.known(.reset)])
        #expect(await heard(after: last - 2000).map(\.sequence) == [last])
        #expect(await heard(after: last - 1024).count == 1024)
    }

    @Test(arguments: [0, 5, Int64.max])
    func `is told to read the state when its id is of another run`(id: Int64) async {
        tell(2)
        #expect(await heard(after: id).map(\.kind) == [.known(.reset)])
    }
}
