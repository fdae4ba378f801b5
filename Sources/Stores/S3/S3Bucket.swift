import Lifecycle
import NIOHTTP1

/// What can be asked of a bucket, in the words of its contents.
struct S3Bucket: ObjectBucket {
    /// Parameters of the next call.
    typealias Position = [(name: String, value: String)]

    enum Listing {
        /// Versions and delete markers
        /// (docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectVersions.html).
        case versions
        /// The same, of a shorter prefix.
        case widerVersions
        /// Objects that are there now
        /// (docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html).
        case objects
        /// Unfinished uploads
        /// (docs.aws.amazon.com/AmazonS3/latest/API/API_ListMultipartUploads.html).
        case uploads
    }

    let client: S3Client
    let name: String
    /// Entries of a listing, and of one DeleteObjects; the service allows no more.
    var pageSize = 1000
    let now: @Sendable () -> WallTime

    let removals = [Listing.versions, .uploads]
    let recounts = [Listing.widerVersions, .objects, .uploads]

    func name(of listing: Listing, _ template: KeyTemplate) -> String {
        switch listing {
        case .versions, .widerVersions, .objects: template.description
        case .uploads: "unfinished uploads of \(template)"
        }
    }

    func accepts(_ key: String) -> Bool { true }

    // MARK: Listings

    func page(
        _ listing: Listing,
        of prefix: String,
        from position: Position?
    ) async throws(CallFailure) -> ObjectPage<Position> {
        let place = position ?? []
        var page = ObjectPage<Position>()
        switch listing {
        case .versions, .widerVersions:
            let asked = listing == .versions ? prefix : String(prefix.dropLast())
            let answer = try await list([("versions", ""), ("prefix", asked), limit] + place)
            for entry in answer.children where Self.isVersion(entry) {
                let id = entry["VersionId"]?.text ?? "null"
                page.versions.append(try version(entry, id, dated: "LastModified"))
            }
            let marker = answer["NextVersionIdMarker"]?.text ?? "null"
            page.next = try next(answer, "version-id-marker", marker)
        case .objects:
            let answer = try await list([("list-type", "2"), ("prefix", prefix), limit] + place)
            for entry in answer.all("Contents") {
                page.versions.append(try version(entry, "", dated: "LastModified"))
            }
            page.next = try next(answer)
        case .uploads:
            let answer = try await list([("uploads", ""), ("prefix", prefix)] + place)
            for entry in answer.all("Upload") {
                let id = try text(entry["UploadId"])
                page.versions.append(try version(entry, id, dated: "Initiated"))
            }
            page.next = try next(answer, "upload-id-marker", answer["NextUploadIdMarker"]?.text)
        }
        return page
    }

    func position(behind version: ObjectVersion, _ listing: Listing) -> Position? {
        let name = listing == .uploads ? "upload-id-marker" : "version-id-marker"
        return [("key-marker", version.key), (name, version.id)]
    }

    func names(
        _ prefix: String,
        delimiter: String?,
        from position: Position?
    ) async throws(CallFailure) -> NamePage<Position> {
        var query: Position = [("versions", ""), ("prefix", prefix), limit]
        if let delimiter { query.append(("delimiter", delimiter)) }
        let answer = try await list(query + (position ?? []))
        var page = NamePage<Position>()
        for entry in answer.children {
            if entry.name == "CommonPrefixes" {
                page.names.append(try text(entry["Prefix"]))
            } else if Self.isVersion(entry) {
                page.names.append(try text(entry["Key"]))
            }
        }
        guard isTruncated(answer) else { return page }
        // Behind a shortened name there is no version.
        let version = answer["NextVersionIdMarker"].map { [("version-id-marker", $0.text)] }
        page.next = [("key-marker", try text(answer["NextKeyMarker"]))] + (version ?? [])
        return page
    }

    func folders(
        in parent: String,
        from position: Position?
    ) async throws(CallFailure) -> NamePage<Position> {
        let range = [("list-type", "2"), ("prefix", parent), ("delimiter", "/")]
        let answer = try await list(range + (position ?? []))
        var page = NamePage<Position>()
        for entry in answer.all("CommonPrefixes") { page.names.append(try text(entry["Prefix"])) }
        page.hasObjects = !answer.all("Contents").isEmpty
        page.next = try next(answer)
        return page
    }

    func position(behind name: String) -> Position { [("start-after", name)] }

    /// Whether deleting wants a second factor, which no service has.
    func wantsSecondFactor() async throws(CallFailure) -> Bool {
        try await list([("versioning", "")])["MfaDelete"]?.text == "Enabled"
    }

    // MARK: Changes

    func delete(
        _ versions: [ObjectVersion],
        _ listing: Listing
    ) async throws(CallFailure) -> [ObjectVersion: PurgeCounts.ResidualCopies] {
        guard listing != .uploads else {
            for upload in versions {
                let query = [(name: "uploadId", value: upload.id)]
                try await client.send(.init(method: .DELETE, key: upload.key, query: query))
            }
            return [:]
        }
        var locks: [ObjectVersion: PurgeCounts.ResidualCopies] = [:]
        for version in try await refused(versions) {
            guard let lock = try await lock(of: version, listing) else {
                throw CallFailure(.misconfigured)
            }
            locks[version] = lock
        }
        return locks
    }

    /// Deletes up to 1,000 versions for good; one that is gone counts as deleted.
    ///
    /// - Returns: Those that the server refused to delete.
    /// - Throws: ``CallFailure`` when it asks for a pause, or answers for something else.
    func refused(_ versions: [ObjectVersion]) async throws(CallFailure) -> [ObjectVersion] {
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
        guard let answer, answer.name == "DeleteResult" else { throw CallFailure(.unusable) }
        var refused: [ObjectVersion] = []
        for entry in answer.all("Error") {
            guard let failure = S3Client.failure(ofCode: entry["Code"]?.text, status: 0) else {
                continue
            }
            // Some servers leave the version out: then all of the key may be refused.
            let id = entry["VersionId"]?.text
            let found = versions.filter {
                $0.key == entry["Key"]?.text && (id == nil || $0.id == id)
            }
            guard failure == .misconfigured else { throw CallFailure(failure) }
            guard !found.isEmpty else { throw CallFailure(.unusable) }
            refused += found
        }
        return refused
    }

    // MARK: Locks

    /// What protects a version
    /// (docs.aws.amazon.com/AmazonS3/latest/userguide/object-lock.html).
    func lock(
        of version: ObjectVersion,
        _ listing: Listing
    ) async throws(CallFailure) -> PurgeCounts.ResidualCopies? {
        // Only versions have locks.
        guard !version.id.isEmpty, listing != .uploads else { return nil }
        let hold = try await detail("legal-hold", of: version)
        if hold?["Status"]?.text == "ON" {
            return PurgeCounts.ResidualCopies(.versionsUnderLegalHold, name, until: nil)
        }
        guard let retention = try await detail("retention", of: version) else { return nil }
        return try lock(retention, at: now())
    }

    /// Reads an answer about retention; one that has ended protects nothing.
    ///
    /// - Throws: ``CallFailure`` for a date that cannot be read.
    func lock(
        _ retention: XMLElement,
        at now: WallTime
    ) throws(CallFailure) -> PurgeCounts.ResidualCopies? {
        guard let mode = retention["Mode"]?.text, let until = retention["RetainUntilDate"] else {
            return nil
        }
        let end = try time(until)
        guard end > now else { return nil }
        let phrase: ResidualPhrase =
            mode == "GOVERNANCE" ? .versionsUnderGovernance : .versionsUnderCompliance
        return PurgeCounts.ResidualCopies(phrase, name, until: end)
    }

    private func detail(
        _ name: String,
        of version: ObjectVersion
    ) async throws(CallFailure) -> XMLElement? {
        do throws(CallFailure) {
            return try await client.send(
                S3Client.Call(key: version.key, query: [(name, ""), ("versionId", version.id)])
            )
        } catch {
            // A bucket without object lock, or a delete marker.
            guard error.failure == .unusable else { throw error }
            return nil
        }
    }

    // MARK: Answers

    private var limit: (name: String, value: String) { ("max-keys", "\(pageSize)") }

    private func list(_ query: Position) async throws(CallFailure) -> XMLElement {
        guard let answer = try await client.send(S3Client.Call(query: query)) else {
            throw CallFailure(.unusable)
        }
        return answer
    }

    private static func isVersion(_ entry: XMLElement) -> Bool {
        ["Version", "DeleteMarker"].contains(entry.name)
    }

    private func isTruncated(_ answer: XMLElement) -> Bool {
        answer["IsTruncated"]?.text == "true"
    }

    private func next(
        _ answer: XMLElement,
        _ marker: String,
        _ id: String?
    ) throws(CallFailure) -> Position? {
        guard isTruncated(answer) else { return nil }
        guard let id else { throw CallFailure(.unusable) }
        return [("key-marker", try text(answer["NextKeyMarker"])), (marker, id)]
    }

    private func next(_ answer: XMLElement) throws(CallFailure) -> Position? {
        guard isTruncated(answer) else { return nil }
        return [("continuation-token", try text(answer["NextContinuationToken"]))]
    }

    private func version(
        _ entry: XMLElement,
        _ id: String,
        dated date: String
    ) throws(CallFailure) -> ObjectVersion {
        ObjectVersion(key: try text(entry["Key"]), id: id, date: try time(entry[date]))
    }

    private func text(_ element: XMLElement?) throws(CallFailure) -> String {
        guard let text = element?.text else { throw CallFailure(.unusable) }
        return text
    }

    private func time(_ element: XMLElement?) throws(CallFailure) -> WallTime {
        guard let time = element.flatMap({ WallTime(rfc3339: $0.text) }) else {
            throw CallFailure(.unusable)
        }
        return time
    }
}
