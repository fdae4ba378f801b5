import Lifecycle
import Testing

@testable import Engine

struct StoreQueueTests {
    @Test func `one call at a time, with at most a batch in it`() throws {
        let queue = DrivenQueue()
        let ids = (0..<Limits.purgeBatchMax + 10).map(Sample.request)
        for id in ids { queue.enqueue(id, .purge) }
        let (work, batch) = try #require(queue.nextBatch())
        #expect(work == .purge)
        #expect(batch == Array(ids.prefix(Limits.purgeBatchMax)))
        #expect(queue.nextBatch() == nil)
        queue.finished()
        #expect(try #require(queue.nextBatch()).1 == Array(ids.suffix(10)))
        queue.finished()
        #expect(queue.nextBatch() == nil)
        #expect(!queue.isBusy)
    }

    @Test func `four purges at most go before a verification`() throws {
        let queue = DrivenQueue()
        var works: [StoreQueue.Work] = []
        queue.enqueue(Sample.request(0), .verify)
        for number in 1...12 {
            // Others come all the time.
            queue.enqueue(Sample.request(number), .purge)
            let (work, batch) = try #require(queue.nextBatch())
            works.append(work)
            queue.finished()
            if work == .purge { for id in batch { queue.enqueue(id, .verify) } }
        }
        let four = Array(repeating: StoreQueue.Work.purge, count: 4)
        #expect(works == [.verify] + four + [.verify] + four + [.verify, .purge])
    }

    @Test func `enough for one call are verified at once`() throws {
        let queue = DrivenQueue()
        queue.enqueue(Sample.request(0), .verify)
        _ = try #require(queue.nextBatch())
        queue.finished()
        for number in 1...Limits.purgeBatchMax { queue.enqueue(Sample.request(number), .verify) }
        queue.enqueue(Sample.request(1000), .purge)
        #expect(try #require(queue.nextBatch()).0 == .verify)
    }

    @Test func `verifications go first and are never mixed with purges`() throws {
        let queue = DrivenQueue()
        queue.enqueue(Sample.request(1), .purge)
        queue.enqueue(Sample.request(2), .verify)
        queue.enqueue(Sample.request(3), .purge)
        let first = try #require(queue.nextBatch())
        #expect(first.0 == .verify)
        #expect(first.1 == [Sample.request(2)])
        queue.finished()
        let second = try #require(queue.nextBatch())
        #expect(second.0 == .purge)
        #expect(second.1 == [Sample.request(1), Sample.request(3)])
    }
}
