import Engine
import HTTP
import Lifecycle
import Settings
import Stores

extension AdapterFactory {
    /// A database of Firestore.
    ///
    /// - Throws: ``Stores/MalformedTemplate`` for a path or query that is none, or what keeps the
    ///   client from being set up.
    func make(
        _ firestore: FirestoreTargetConfiguration,
        named name: TargetName
    ) async throws -> GoogleMade<any PurgeTarget> {
        let plan = FirestoreTargetPlan(
            name: name,
            baseURL: firestore.access.baseURL,
            project: firestore.project,
            database: firestore.database,
            documents: try firestore.documents.map { try UserPath($0, in: .firestore) },
            queries: try firestore.collections.map { try FieldQuery($0, isGroup: false) }
                + firestore.groups.map { try FieldQuery($0, isGroup: true) },
            includesSubcollections: firestore.includesSubcollections
        )
        return try await make(
            firestore.access,
            named: name,
            scopes: [FirestoreTargetPlan.scope],
            answerMax: FirestoreTargetPlan.answerMax
        ) { client, settings in
            try FirestoreTarget(
                plan: plan,
                client: client,
                settings: settings,
                clock: .system(wall: now)
            )
        }
    }

    /// A bucket of Cloud Storage.
    ///
    /// - Throws: ``Stores/MalformedTemplate`` for one that could reach another user, or what keeps
    ///   the client from being set up.
    func make(
        _ storage: CloudStorageTargetConfiguration,
        named name: TargetName
    ) async throws -> GoogleMade<any PurgeTarget> {
        let plan = CloudStorageTargetPlan(
            name: name,
            baseURL: storage.access.baseURL,
            bucket: storage.bucket,
            templates: try storage.prefixes.map { try KeyTemplate($0, isPrefix: true) }
                + storage.objects.map { try KeyTemplate($0, isPrefix: false) }
        )
        return try await make(
            storage.access,
            named: name,
            scopes: [CloudStorageTargetPlan.scope],
            answerMax: CloudStorageTargetPlan.answerMax
        ) { client, settings in
            try CloudStorageTarget(
                plan: plan,
                client: client,
                settings: settings,
                clock: .system(wall: now)
            )
        }
    }

    /// A Realtime Database.
    ///
    /// - Throws: ``Stores/MalformedTemplate`` for a path that is none, or what keeps the client
    ///   from being set up.
    func make(
        _ database: RealtimeDatabaseTargetConfiguration,
        named name: TargetName
    ) async throws -> GoogleMade<any PurgeTarget> {
        let plan = RealtimeDatabaseTargetPlan(
            name: name,
            baseURL: database.access.baseURL ?? database.url,
            paths: try database.paths.map { try UserPath($0, in: .realtimeDatabase) },
            createdAtChild: database.createdAtChild,
            namespace: database.access.isEmulator ? database.instance : nil
        )
        return try await make(
            database.access,
            named: name,
            scopes: RealtimeDatabaseTargetPlan.scopes,
            answerMax: RealtimeDatabaseTargetPlan.answerMax
        ) { client, settings in
            try RealtimeDatabaseTarget(
                plan: plan,
                client: client,
                settings: settings,
                clock: .system(wall: now)
            )
        }
    }

    /// Makes the client, and the target that it is for.
    private func make(
        _ access: GoogleAccess,
        named name: TargetName,
        scopes: [String],
        answerMax: Int,
        _ body: (GoogleClient, RemoteSettings) throws -> any PurgeTarget
    ) async throws -> GoogleMade<any PurgeTarget> {
        let google = try googleFactory.make(access, for: .target(name), scopes: scopes) {
            $0.answerMax = answerMax
            // One user is worked on at a time, eight objects of theirs at most.
            $0.concurrency = 8
        }
        do {
            return GoogleMade(made: try body(google.client, google.settings), client: google.client)
        } catch {
            await google.client.shutdown()
            throw error
        }
    }
}
