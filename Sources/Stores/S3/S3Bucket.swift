import Lifecycle
import NIOHTTP1

/// What can be asked of a bucket, in the words of its contents.
struct S3Bucket: Sendable {
    /// What a listing can go on behind.
    protocol Listed: Hashable, Sendable {
        var marker: Query { get }
    }

    /// A version of an object, or a delete marker.
    struct Version: Listed {
        let key: String
        let id: String
        let modifiedAt: WallTime

        var marker: Query { [("key-marker", key), ("version-id-marker", id)] }
    }

    /// An upload that was begun and not finished.
    struct Upload: Listed {
        let key: String
        let id: String
        let begunAt: WallTime

        var marker: Query { [("key-marker", key), ("upload-id-marker", id)] }
    }

    /// Some entries of a listing, and how it goes on; `nil` when it does not.
    struct Page<Entry: Listed>: Sendable {
        var entries: [Entry] = []
        var next: Query?

        /// How the listing goes on when only some of the page's entries stay.
        ///
        /// It goes on behind the last of them, or where the page began. The marker of a version
        /// that is gone makes some servers skip all that follows.
        func next(behindLastOf staying: [Entry], _ place: Query) -> Query? {
            next.map { _ in staying.last?.marker ?? place }
        }
    }

    /// What keeps a version from being deleted.
    struct Lock: Hashable, Sendable {
        enum Kind: String {
            case compliance, governance
            case legalHold = "legal hold"
        }

        let kind: Kind
        /// `nil` for a legal hold, which somebody must lift.
        let until: WallTime?
    }

    let client: S3Client
    let target: TargetName
    /// Entries of a page.
    let pageSize: Int

    typealias Query = [(name: String, value: String)]

    // MARK: Listings

    /// A page of versions and delete markers below a prefix
    /// (docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectVersions.html).
    ///
    /// - Throws: ``S3Error``.
    func versions(_ prefix: String, from place: Query = []) async throws(S3Error) -> Page<Version> {
        let answer = try await list([("versions", ""), ("prefix", prefix), limit] + place)
        var page = Page<Version>()
        for entry in answer.children where ["Version", "DeleteMarker"].contains(entry.name) {
            page.entries.append(
                Version(
                    key: try text(entry["Key"]),
                    id: entry["VersionId"]?.text ?? "null",
                    modifiedAt: try time(entry["LastModified"])
                )
            )
        }
        if answer["IsTruncated"]?.text == "true" {
            page.next = [
                ("key-marker", try text(answer["NextKeyMarker"])),
                ("version-id-marker", answer["NextVersionIdMarker"]?.text ?? "null"),
            ]
        }
        return page
    }

    /// A page of objects that are there now, by the other listing
    /// (docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html).
    ///
    /// - Throws: ``S3Error``.
    func objects(_ prefix: String, from place: Query = []) async throws(S3Error) -> Page<Version> {
        let answer = try await list([("list-type", "2"), ("prefix", prefix), limit] + place)
        var page = Page<Version>()
        for entry in answer.all("Contents") {
            page.entries.append(
                Version(
                    key: try text(entry["Key"]),
                    id: "",
                    modifiedAt: try time(entry["LastModified"])
                )
            )
        }
        page.next = try next(answer)
        return page
    }

    /// A page of the names of all versions below a prefix; what has the delimiter behind that is
    /// shown up to it, once.
    ///
    /// - Throws: ``S3Error``.
    func names(
        _ prefix: String,
        delimiter: String?,
        from place: Query
    ) async throws(S3Error) -> (names: [String], next: Query?) {
        var query: Query = [("versions", ""), ("prefix", prefix), limit]
        if let delimiter { query.append(("delimiter", delimiter)) }
        let answer = try await list(query + place)
        var names: [String] = []
        for entry in answer.children {
            switch entry.name {
            case "CommonPrefixes": names.append(try text(entry["Prefix"]))
            case "Version", "DeleteMarker": names.append(try text(entry["Key"]))
            default: break
            }
        }
        guard answer["IsTruncated"]?.text == "true" else { return (names, nil) }
        let marker = [("key-marker", try text(answer["NextKeyMarker"]))]
        // Behind a shortened name there is no version.
        let version = answer["NextVersionIdMarker"].map { [("version-id-marker", $0.text)] }
        return (names, marker + (version ?? []))
    }

    /// A page of the folders in a folder, and `*` there for objects that lie in it themselves.
    ///
    /// - Throws: ``S3Error``.
    func folders(
        in parent: String,
        from place: Query
    ) async throws(S3Error) -> (names: [String], next: Query?) {
        let range = [("list-type", "2"), ("prefix", parent), ("delimiter", "/")]
        let answer = try await list(range + place)
        var names: [String] = []
        for entry in answer.all("CommonPrefixes") { names.append(try text(entry["Prefix"])) }
        if !answer.all("Contents").isEmpty { names.append(parent + "*") }
        guard answer["IsTruncated"]?.text == "true" else { return (names, nil) }
        return (names, [("continuation-token", try text(answer["NextContinuationToken"]))])
    }

    /// A page of unfinished uploads
    /// (docs.aws.amazon.com/AmazonS3/latest/API/API_ListMultipartUploads.html).
    ///
    /// - Throws: ``S3Error``.
    func uploads(_ prefix: String, from place: Query = []) async throws(S3Error) -> Page<Upload> {
        let answer = try await list([("uploads", ""), ("prefix", prefix)] + place)
        var page = Page<Upload>()
        for entry in answer.all("Upload") {
            page.entries.append(
                Upload(
                    key: try text(entry["Key"]),
                    id: try text(entry["UploadId"]),
                    begunAt: try time(entry["Initiated"])
                )
            )
        }
        if answer["IsTruncated"]?.text == "true" {
            page.next = [
                ("key-marker", try text(answer["NextKeyMarker"])),
                ("upload-id-marker", try text(answer["NextUploadIdMarker"])),
            ]
        }
        return page
    }

    /// Whether deleting wants a second factor, which no service has.
    ///
    /// - Throws: ``S3Error``.
    func wantsSecondFactor() async throws(S3Error) -> Bool {
        try await list([("versioning", "")])["MfaDelete"]?.text == "Enabled"
    }

    // MARK: Changes

    /// Deletes up to 1,000 versions for good; one that is gone counts as deleted.
    ///
    /// - Returns: Those that the server refused to delete.
    /// - Throws: ``S3Error`` when it asks for a pause, or answers for something else.
    func delete(_ versions: [Version]) async throws(S3Error) -> [Version] {
        let objects = versions.map { version in
            "<Object><Key>\(version.key.escapedForXML)</Key>"
                + "<VersionId>\(version.id.escapedForXML)</VersionId></Object>"
        }
        let body =
            "<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Quiet>true</Quiet>"
            + objects.joined() + "</Delete>"
        let answer = try await client.send(
            S3Client.Call(method: .POST, query: [("delete", "")], body: Array(body.utf8))
        )
        guard let answer, answer.name == "DeleteResult" else { throw error(.unusable) }
        var refused: [Version] = []
        for entry in answer.all("Error") {
            switch S3Error.kind(ofCode: entry["Code"]?.text, status: 0) {
            case .absent: continue
            case .throttled: throw error(.throttled)
            case .refused:
                // Some servers leave the version out: then all of the key may be refused.
                let id = entry["VersionId"]?.text
                let found = versions.filter {
                    $0.key == entry["Key"]?.text && (id == nil || $0.id == id)
                }
                guard !found.isEmpty else { throw error(.unusable) }
                refused += found
            case .unreachable, .lost, .unusable: throw error(.unusable)
            }
        }
        return refused
    }

    /// Gives up an unfinished upload with all of its parts.
    ///
    /// - Throws: ``S3Error``.
    func abort(_ upload: Upload) async throws(S3Error) {
        do throws(S3Error) {
            try await client.send(
                S3Client.Call(method: .DELETE, key: upload.key, query: [("uploadId", upload.id)])
            )
        } catch {
            guard error.kind == .absent else { throw error }
        }
    }

    /// What protects a version; `nil` when nothing does
    /// (docs.aws.amazon.com/AmazonS3/latest/userguide/object-lock.html).
    ///
    /// - Throws: ``S3Error``.
    func lock(of version: Version, at now: WallTime) async throws(S3Error) -> Lock? {
        let hold = try await detail("legal-hold", of: version)
        if hold?["Status"]?.text == "ON" { return Lock(kind: .legalHold, until: nil) }
        guard let retention = try await detail("retention", of: version) else { return nil }
        return try lock(retention, at: now)
    }

    /// Reads an answer about retention; one that has ended protects nothing.
    ///
    /// - Throws: ``S3Error`` for a date that cannot be read.
    func lock(_ retention: XMLElement, at now: WallTime) throws(S3Error) -> Lock? {
        guard let mode = retention["Mode"]?.text, let until = retention["RetainUntilDate"] else {
            return nil
        }
        let end = try time(until)
        guard end > now else { return nil }
        return Lock(kind: mode == "GOVERNANCE" ? .governance : .compliance, until: end)
    }

    private func detail(
        _ name: String,
        of version: Version
    ) async throws(S3Error) -> XMLElement? {
        do throws(S3Error) {
            return try await client.send(
                S3Client.Call(key: version.key, query: [(name, ""), ("versionId", version.id)])
            )
        } catch {
            // A bucket without object lock, a delete marker, an object without a lock.
            guard [.absent, .unusable].contains(error.kind) else { throw error }
            return nil
        }
    }

    // MARK: Answers

    private var limit: (name: String, value: String) { ("max-keys", "\(pageSize)") }

    private func list(_ query: Query) async throws(S3Error) -> XMLElement {
        guard let answer = try await client.send(S3Client.Call(query: query)) else {
            throw error(.unusable)
        }
        return answer
    }

    private func next(_ answer: XMLElement) throws(S3Error) -> Query? {
        guard answer["IsTruncated"]?.text == "true" else { return nil }
        return [("continuation-token", try text(answer["NextContinuationToken"]))]
    }

    private func text(_ element: XMLElement?) throws(S3Error) -> String {
        guard let text = element?.text else { throw error(.unusable) }
        return text
    }

    private func time(_ element: XMLElement?) throws(S3Error) -> WallTime {
        guard let time = element.flatMap({ WallTime(rfc3339: $0.text) }) else {
            throw error(.unusable)
        }
        return time
    }

    private func error(_ kind: S3Error.Kind) -> S3Error { S3Error(kind, target: target) }
}
