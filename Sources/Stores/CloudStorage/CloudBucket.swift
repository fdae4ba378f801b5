import Encoding
import HTTP
import Lifecycle
import NIOHTTP1

/// What can be asked of a bucket (cloud.google.com/storage/docs/json_api/v1/objects).
struct CloudBucket: Sendable {
    /// One generation of an object.
    struct Version: Hashable, Sendable {
        let name: String
        let generation: String
        let createdAt: WallTime
        /// As the listing tells it.
        let lock: Lock?
    }

    /// What keeps a generation from being deleted.
    struct Lock: Hashable, Sendable {
        enum Kind: String {
            case hold = "an object hold"
            case retention
        }

        let kind: Kind
        /// `nil` for a hold, which somebody must lift.
        let until: WallTime?
    }

    /// Some entries of a listing, and how it goes on; `nil` when it does not.
    struct Page {
        var versions: [Version] = []
        var folders: [String] = []
        var next: String?
    }

    /// What became of one deletion.
    enum Outcome: Sendable {
        case gone
        case locked(Lock)
        case failure(EffectFailure)
    }

    /// How much of the bucket a listing shows.
    enum Range {
        /// Every generation of what begins so.
        case generations(prefix: String)
        /// Every generation of what begins so, asked for by the first and the last name.
        case generationsBetween(prefix: String)
        /// Names of every generation of what begins so, each up to a delimiter.
        case names(prefix: String, delimiter: String)
        /// What is there now.
        case live(prefix: String)
        /// Folders and objects in a folder, from a name on.
        case folders(parent: String, from: String)
    }

    private let store: GoogleStore
    private let path: String
    let pageSize: Int
    private let now: @Sendable () -> WallTime

    /// - Throws: ``HTTP/SetupError`` for a base URL that tokens must not go to.
    init(
        _ plan: CloudStorageTargetPlan,
        client: GoogleClient,
        settings: RemoteSettings,
        now: @escaping @Sendable () -> WallTime
    ) throws(SetupError) {
        self.now = now
        path = "/" + GoogleStore.encoded(plan.bucket)
        pageSize = plan.pageSize
        store = try GoogleStore(
            baseURL: plan.baseURL ?? "https://storage.googleapis.com",
            path: "/storage/v1/b",
            client: client,
            settings: settings
        )
    }

    // MARK: Listings

    /// A page of a listing, in the order of the names.
    ///
    /// - Throws: ``GoogleFailure``.
    func page(_ range: Range, from token: String?) async throws(GoogleFailure) -> Page {
        var call = GoogleStore.Call(path: path + "/o")
        call.query = [
            ("maxResults", "\(pageSize)"),
            (
                "fields",
                "nextPageToken,prefixes,items(name,generation,timeCreated,temporaryHold,"
                    + "eventBasedHold,retentionExpirationTime,retention)"
            ),
        ]
        switch range {
        case .generations(let prefix): call.query += [("versions", "true"), ("prefix", prefix)]
        case .generationsBetween(let prefix):
            call.query += [("versions", "true"), ("startOffset", prefix)]
            if let end = Self.end(of: prefix) { call.query.append(("endOffset", end)) }
        case .names(let prefix, let delimiter):
            call.query += [("versions", "true"), ("prefix", prefix), ("delimiter", delimiter)]
        case .live(let prefix): call.query.append(("prefix", prefix))
        case .folders(let parent, let name):
            call.query += [("prefix", parent), ("delimiter", "/")]
            if !name.isEmpty { call.query.append(("startOffset", name)) }
        }
        if let token { call.query.append(("pageToken", token)) }
        let answer = try await get(call)
        var page = Page()
        for json in answer["items"]?.array ?? [] { page.versions.append(try version(json)) }
        page.folders = (answer["prefixes"]?.array ?? []).compactMap(\.string)
        page.next = Self.token(answer)
        return page
    }

    /// When the last of the soft-deleted objects below a prefix is gone.
    ///
    /// - Parameters:
    ///   - prefix: What their names begin with.
    ///   - retention: ``softDeletion()``, for objects that are too many to look at.
    /// - Returns: `nil` without any.
    /// - Throws: ``GoogleFailure``.
    func softDeletionEnd(
        _ prefix: String,
        retention: Duration
    ) async throws(GoogleFailure) -> WallTime? {
        var end: WallTime?
        var token: String?
        for _ in 0..<PageWalk.countedPages {
            var call = GoogleStore.Call(path: path + "/o")
            call.query = [
                ("maxResults", "\(pageSize)"), ("softDeleted", "true"), ("prefix", prefix),
                ("fields", "nextPageToken,items(hardDeleteTime)"),
            ]
            if let token { call.query.append(("pageToken", token)) }
            let answer = try await get(call)
            for json in answer["items"]?.array ?? [] {
                end = max(end ?? .distantPast, try time(json["hardDeleteTime"]))
            }
            token = Self.token(answer)
            if token == nil { return end }
        }
        return max(end ?? .distantPast, now() + retention)
    }

    /// How long the bucket keeps what is deleted; zero when it does not.
    ///
    /// - Throws: ``GoogleFailure``.
    func softDeletion() async throws(GoogleFailure) -> Duration {
        var call = GoogleStore.Call(path: path)
        call.query = [("fields", "softDeletePolicy")]
        let answer = try await get(call)
        guard let policy = answer["softDeletePolicy"] else { return .zero }
        guard let text = policy["retentionDurationSeconds"]?.string else { return .zero }
        guard let seconds = Int64(text), (0...31_536_000).contains(seconds) else {
            throw GoogleFailure(.unusable)
        }
        return .seconds(seconds)
    }

    // MARK: Changes

    /// Deletes one generation for good, or as far as soft deletion lets it.
    func delete(_ version: Version) async -> Outcome {
        var call = GoogleStore.Call(
            method: .DELETE,
            path: path + "/o/" + GoogleStore.encoded(version.name)
        )
        call.query = [("generation", version.generation)]
        do throws(GoogleFailure) {
            // No object has these names, and they would change the path.
            guard ![".", ".."].contains(version.name) else { throw GoogleFailure(.unusable) }
            let reading = try await store.send(call, Self.deletion)
            switch reading.meaning {
            case .honoured, .refused: return .gone
            case .unclear:
                let reason = reading.json?.member(at: "error.errors.0.reason")?.string
                let kind: Lock.Kind = reason == "objectUnderActiveHold" ? .hold : .retention
                return .locked(Lock(kind: kind, until: nil))
            case .failure(let failure): return .failure(failure)
            }
        } catch {
            return .failure(error.failure)
        }
    }

    // MARK: Answers

    private func get(_ call: GoogleStore.Call) async throws(GoogleFailure) -> JSONValue {
        let reading = try await store.send(call, Self.reading)
        guard reading.meaning == .honoured, let json = reading.json else {
            throw GoogleFailure(.unusable)
        }
        return json
    }

    private func version(_ json: JSONValue) throws(GoogleFailure) -> Version {
        guard let name = json["name"]?.string, let generation = json["generation"]?.string else {
            throw GoogleFailure(.unusable)
        }
        return Version(
            name: name,
            generation: generation,
            createdAt: try time(json["timeCreated"]),
            lock: try lock(json)
        )
    }

    /// Holds (cloud.google.com/storage/docs/object-holds), the bucket's retention policy and the
    /// object's own retention (…/docs/object-lock); one that has ended protects nothing.
    private func lock(_ json: JSONValue) throws(GoogleFailure) -> Lock? {
        let isHeld = ["temporaryHold", "eventBasedHold"].contains { json[$0]?.bool == true }
        if isHeld { return Lock(kind: .hold, until: nil) }
        var until: WallTime?
        for member in ["retentionExpirationTime", "retention.retainUntilTime"] {
            guard let value = json.member(at: member) else { continue }
            let time = try time(value)
            until = max(until ?? time, time)
        }
        guard let until, until > now() else { return nil }
        return Lock(kind: .retention, until: until)
    }

    private func time(_ json: JSONValue?) throws(GoogleFailure) -> WallTime {
        guard let time = json?.string.flatMap({ WallTime(rfc3339: $0) }) else {
            throw GoogleFailure(.unusable)
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

    private static func token(_ answer: JSONValue) -> String? {
        answer["nextPageToken"]?.string.flatMap { $0.isEmpty ? nil : $0 }
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
