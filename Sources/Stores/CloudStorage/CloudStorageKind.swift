import Engine
package import HTTP
import Lifecycle
package import Settings

/// A bucket of Google Cloud Storage.
package struct CloudStorageKind: BucketKind {
    package static let name = "google-cloud-storage"
    package static let traits = StoreTraits(
        isDatedByRestoration: true,
        residualPhrases: [
            .objectsUnderHold, .objectsUnderRetention, .softDeletedObjects, .unfinishedUploads,
        ]
    )

    package static let settings: [Setting] =
        [
            Setting(
                .store,
                "bucket",
                .text(.cloudName),
                .required(example: .text("app-uploads")),
                "Name of the bucket."
            )
        ] + objectSettings + GoogleAccess.settings(.store)

    package private(set) var bucket: String
    let templates: [KeyTemplate]
    package let access: GoogleAccess

    package init(_ section: inout SettingsSection, _ problems: inout SectionProblems) {
        bucket = section.requiredText("bucket")
        templates = Self.templates(section, &problems)
        access = GoogleAccess(section, &problems)
    }

    package func open(_ environment: StoreEnvironment) async throws -> CloudStorageStore {
        try await access.open(environment) { session in
            CloudStorageStore(
                name: environment.name,
                templates: templates,
                session: session,
                bucket: try CloudBucket(bucket, at: access.baseURL, session)
            )
        }
    }

    package func copy(at place: String) throws(NoStoreCopy) -> Self {
        var copy = self
        copy.bucket = try TextRule.cloudName.check(place)
        return copy
    }
}

extension ResidualPhrase {
    static let objectsUnderHold = ResidualPhrase(
        "objects_under_hold",
        "objects under an object hold in bucket '%'"
    )

    static let objectsUnderRetention = ResidualPhrase(
        "objects_under_retention",
        "objects under retention in bucket '%'"
    )

    static let softDeletedObjects = ResidualPhrase(
        "soft_deleted_objects",
        "soft-deleted objects of bucket '%'"
    )

    static let unfinishedUploads = ResidualPhrase(
        "unfinished_uploads",
        "unfinished uploads to bucket '%', if there are any: the bucket does not list them"
    )
}
