import Encoding
import HTTP
import Lifecycle
import NIOHTTP1

/// What can be asked of a bucket (cloud.google.com/storage/docs/json_api/v1/objects).
///
/// The version of an object is its generation.
struct CloudBucket: ObjectBucket {
    /// Where a listing goes on: from a name, and from a page.
    struct Position {
        var start = ""
        var token: String?
    }

    /// What became of one deletion.
    enum Outcome: Sendable {
        case gone
        case locked(PurgeCounts.ResidualCopies)
        case failure(EffectFailure)
    }

    enum Listing {
        /// Every generation of what begins so.
        case generations
        /// Every generation of what begins so, asked for by the first and the last name.
        case generationsBetween
        /// What is there now.
        case live
    }

    let removals = [Listing.generations]
    let recounts = [Listing.generationsBetween, .live]

    let name: String
    private let calls: GoogleCalls
    private let path: String
    /// Entries of a listing; the service allows no more than 1,000.
    private let pageSize: Int
    private let now: @Sendable () -> WallTime

    /// - Throws: ``HTTP/SetupError`` for a base URL that tokens must not go to.
    init(
        _ name: String,
        at baseURL: String?,
        _ session: GoogleSession,
        pageSize: Int = 1000
    ) throws(SetupError) {
        now = session.clock.wall
        self.name = name
        path = "/" + PercentEncoding.encode(name)
        self.pageSize = pageSize
        calls = try GoogleCalls(
            baseURL: baseURL ?? "https://storage.googleapis.com",
            path: "/storage/v1/b",
            session
        )
    }

    func name(of listing: Listing, _ template: KeyTemplate) -> String { template.description }

    /// No object has these names, and they would change the path.
    func accepts(_ key: String) -> Bool { key != "." && key != ".." }

    // MARK: Listings

    func page(
        _ listing: Listing,
        of prefix: String,
        from position: Position?
    ) async throws(CallFailure) -> ObjectPage<Position> {
        var query: [(name: String, value: String)]
        switch listing {
        case .generations: query = [("versions", "true"), ("prefix", prefix)]
        case .generationsBetween:
            query = [("versions", "true"), ("startOffset", prefix)]
            if let end = Self.end(of: prefix) { query.append(("endOffset", end)) }
        case .live: query = [("prefix", prefix)]
        }
        let answer = try await list(query, from: position)
        var page = ObjectPage<Position>()
        for json in answer["items"]?.array ?? [] { page.versions.append(try version(json)) }
        page.next = GoogleCalls.token(answer).map { Position(token: $0) }
        return page
    }

    /// Only pages have tokens.
    func position(behind version: ObjectVersion, _ listing: Listing) -> Position? { nil }

    func names(
        _ prefix: String,
        delimiter: String?,
        from position: Position?
    ) async throws(CallFailure) -> NamePage<Position> {
        let range = [(name: "versions", value: "true"), ("prefix", prefix)]
        let answer = try await list(
            range + (delimiter.map { [("delimiter", $0)] } ?? []),
            from: position
        )
        return NamePage(
            names: Self.folders(answer) + (try names(answer)),
            next: GoogleCalls.token(answer).map { Position(token: $0) }
        )
    }

    func folders(
        in parent: String,
        from position: Position?
    ) async throws(CallFailure) -> NamePage<Position> {
        let start = position?.start ?? ""
        let range = [(name: "prefix", value: parent), ("delimiter", "/")]
        let answer = try await list(
            range + (start.isEmpty ? [] : [("startOffset", start)]),
            from: position
        )
        return NamePage(
            names: Self.folders(answer),
            // The emulator also lists what is deeper.
            hasObjects: try names(answer).contains { !$0.dropFirst(parent.count).contains("/") },
            next: GoogleCalls.token(answer).map { Position(start: start, token: $0) }
        )
    }

    func position(behind name: String) -> Position { Position(start: name) }

    private func list(
        _ range: [(name: String, value: String)],
        from position: Position?
    ) async throws(CallFailure) -> JSONValue {
        var call = GoogleCalls.Call(path: path + "/o")
        let fields =
            "nextPageToken,prefixes,items(name,generation,timeCreated,temporaryHold,"
            + "eventBasedHold,retentionExpirationTime,retention)"
        call.query = [("maxResults", "\(pageSize)"), ("fields", fields)] + range
        if let token = position?.token { call.query.append(("pageToken", token)) }
        return try await calls.object(call, Self.reading)
    }

    private static func folders(_ answer: JSONValue) -> [String] {
        (answer["prefixes"]?.array ?? []).compactMap(\.string)
    }

    private func names(_ answer: JSONValue) throws(CallFailure) -> [String] {
        try (answer["items"]?.array ?? []).map { json throws(CallFailure) in
            try version(json).key
        }
    }

    /// When the last of the soft-deleted objects below a prefix is gone.
    ///
    /// - Parameters:
    ///   - prefix: What their names begin with.
    ///   - retention: ``softDeletion()``, for objects that are too many to look at.
    /// - Returns: `nil` without any.
    /// - Throws: ``CallFailure``.
    func softDeletionEnd(
        _ prefix: String,
        retention: Duration
    ) async throws(CallFailure) -> WallTime? {
        var end: WallTime?
        var token: String?
        for _ in 0..<PageWalk.countedPages {
            var call = GoogleCalls.Call(path: path + "/o")
            call.query = [
                ("maxResults", "\(pageSize)"), ("softDeleted", "true"), ("prefix", prefix),
                ("fields", "nextPageToken,items(hardDeleteTime)"),
            ]
            if let token { call.query.append(("pageToken", token)) }
            let answer = try await calls.object(call, Self.reading)
            for json in answer["items"]?.array ?? [] {
                end = max(end ?? .distantPast, try time(json["hardDeleteTime"]))
            }
            token = GoogleCalls.token(answer)
            if token == nil { return end }
        }
        return max(end ?? .distantPast, now() + retention)
    }

    /// How long the bucket keeps what is deleted; zero when it does not.
    func softDeletion() async throws(CallFailure) -> Duration {
        var call = GoogleCalls.Call(path: path)
        call.query = [("fields", "softDeletePolicy")]
        let answer = try await calls.object(call, Self.reading)
        guard let policy = answer["softDeletePolicy"] else { return .zero }
        guard let text = policy["retentionDurationSeconds"]?.string else { return .zero }
        guard let seconds = Int64(text), (0...31_536_000).contains(seconds) else {
            throw CallFailure(.unusable)
        }
        return .seconds(seconds)
    }

    // MARK: Changes

    func delete(
        _ versions: [ObjectVersion],
        _ listing: Listing
    ) async throws(CallFailure) -> [ObjectVersion: PurgeCounts.ResidualCopies] {
        var locks: [ObjectVersion: PurgeCounts.ResidualCopies] = [:]
        let outcomes = await OrderPool.map(versions) { await delete($0) }
        for (version, outcome) in zip(versions, outcomes) {
            switch outcome {
            case .gone: break
            case .locked(let lock): locks[version] = lock
            case .failure(let failure): throw CallFailure(failure)
            }
        }
        return locks
    }

    /// Deletes one generation for good, or as far as soft deletion lets it.
    func delete(_ version: ObjectVersion) async -> Outcome {
        var call = GoogleCalls.Call(
            method: .DELETE,
            path: path + "/o/" + PercentEncoding.encode(version.key)
        )
        call.query = [("generation", version.id)]
        do throws(CallFailure) {
            guard accepts(version.key) else { throw CallFailure(.unusable) }
            let reading = try await calls.send(call, Self.deletion)
            switch reading.meaning {
            case .honoured, .refused: return .gone
            case .unclear:
                let reason = reading.json?.member(at: "error.errors.0.reason")?.string
                let isHeld = reason == "objectUnderActiveHold"
                let phrase: ResidualPhrase = isHeld ? .objectsUnderHold : .objectsUnderRetention
                return .locked(PurgeCounts.ResidualCopies(phrase, name, until: nil))
            case .failure(let failure): return .failure(failure)
            }
        } catch {
            return .failure(error.failure)
        }
    }

    func lock(
        of version: ObjectVersion,
        _ listing: Listing
    ) async throws(CallFailure) -> PurgeCounts.ResidualCopies? { version.lock }

    // MARK: Answers

    private func version(_ json: JSONValue) throws(CallFailure) -> ObjectVersion {
        guard let name = json["name"]?.string, let generation = json["generation"]?.string else {
            throw CallFailure(.unusable)
        }
        return ObjectVersion(
            key: name,
            id: generation,
            date: try time(json["timeCreated"]),
            lock: try lock(json)
        )
    }

    /// Holds (cloud.google.com/storage/docs/object-holds), the bucket's retention policy and the
    /// object's own retention (…/docs/object-lock); one that has ended protects nothing.
    private func lock(_ json: JSONValue) throws(CallFailure) -> PurgeCounts.ResidualCopies? {
        let isHeld = ["temporaryHold", "eventBasedHold"].contains { json[$0]?.bool == true }
        if isHeld { return PurgeCounts.ResidualCopies(.objectsUnderHold, name, until: nil) }
        var until: WallTime?
        for member in ["retentionExpirationTime", "retention.retainUntilTime"] {
            guard let value = json.member(at: member) else { continue }
            let time = try time(value)
            until = max(until ?? time, time)
        }
        guard let until, until > now() else { return nil }
        return PurgeCounts.ResidualCopies(.objectsUnderRetention, name, until: until)
    }

    private func time(_ json: JSONValue?) throws(CallFailure) -> WallTime {
        guard let time = json?.string.flatMap({ WallTime(rfc3339: $0) }) else {
            throw CallFailure(.unusable)
        }
        return time
    }

    /// The first name behind all that begin so; `nil` when there can be none.
    static func end(of prefix: String) -> String? {
        var scalars = prefix.unicodeScalars
        while let last = scalars.popLast() {
            let isBeforeSurrogates = last.value == 0xd7ff
            if let next = Unicode.Scalar(isBeforeSurrogates ? 0xe000 : last.value + 1) {
                scalars.append(next)
                return String(scalars)
            }
        }
        return nil
    }

    /// A listing of what is not there is empty; 404 is about the bucket.
    private static let reading = GoogleClient.table([
        ReplyRow(200, .object, .honoured),
        ReplyRow(404, .anything, .failure(.misconfigured)),
        ReplyRow(408, .anything, .failure(.lost)),
        ReplyRow(504, .anything, .failure(.lost)),
    ])

    /// "HTTP status and error codes for JSON" (cloud.google.com/storage/docs/json_api/v1).
    private static let deletion = GoogleClient.table([
        // 200 from an emulator.
        ReplyRow(200, .empty, .honoured),
        ReplyRow(204, .empty, .honoured),
        ReplyRow(404, .noPage, .refused),
        ReplyRow(
            403,
            .member(
                "error.errors.0.reason",
                .text(["retentionPolicyNotMet", "objectUnderActiveHold"])
            ),
            .unclear
        ),
        ReplyRow(408, .anything, .failure(.lost)),
        ReplyRow(504, .anything, .failure(.lost)),
    ])
}
