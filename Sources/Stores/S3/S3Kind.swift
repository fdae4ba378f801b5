import Engine
import HTTP
import Lifecycle
package import Settings

/// A bucket of Amazon S3, or of a server that speaks its protocol.
package struct S3Kind: BucketKind {
    package static let name = "s3"
    package static let summary = "Amazon S3 or a compatible server"
    package static let traits = StoreTraits(
        isDatedByRestoration: true,
        residualPhrases: [
            .versionsUnderLegalHold, .versionsUnderGovernance, .versionsUnderCompliance,
        ]
    )

    package static let settings: [Setting] =
        server + AWSAccess.keySettings(examples: "s3") + objectSettings + [.callTimeout]

    private static let server: [Setting] =
        place + [.caFile(.store, example: "/etc/expunged/objects-ca.pem").outsidePlans()]

    private static let place = Setting.keys(
        .store,
        ("bucket", .text(.bucket), .required(example: .text("app-uploads")), "Name of the bucket."),
        (
            "endpoint", .text(.origin),
            .required(example: .text("https://s3.eu-central-1.amazonaws.com")),
            "Address of the server, without the name of the bucket."
        ),
        (
            "region", .text(.clientID), .required(example: .text("eu-central-1")),
            "Region for which requests are signed."
        ),
        (
            "url_style", .choice(URLStyle.allCases.map(\.rawValue)),
            .defaultsTo(.text(URLStyle.virtualHost.rawValue)),
            """
            Where the name of the bucket stands; most self-hosted servers need "path".
            """
        )
    )

    /// Where the name of the bucket stands in a URL.
    package enum URLStyle: String, Sendable, CaseIterable {
        case virtualHost = "virtual-host"
        case path
    }

    package private(set) var bucket: String
    let urlStyle: URLStyle
    let access: AWSAccess
    let templates: [KeyTemplate]

    package init(_ section: inout SettingsSection, _ problems: inout SectionProblems) {
        bucket = section.requiredText("bucket")
        urlStyle = section.requiredChoice("url_style")
        access = AWSAccess(Self.name, section, &problems)
        templates = Self.templates(section, &problems)
    }

    package func open(_ environment: StoreEnvironment) throws -> S3Store {
        let client = try S3Client(of: bucket, at: access.endpoint, urlStyle) { url in
            try access.client(
                of: Self.name,
                at: url,
                accept: S3Client.contentType,
                concurrency: 4,
                environment
            )
        }
        return S3Store(
            name: environment.name,
            templates: templates,
            bucket: S3Bucket(client: client, name: bucket, now: environment.clock.wall),
            clock: environment.clock
        )
    }

    package func copy(at place: String) throws(NoStoreCopy) -> Self {
        var copy = self
        copy.bucket = try TextRule.bucket.check(place)
        return copy
    }
}

extension TextRule {
    static let bucket = TextRule(
        "bucket name",
        "3 to 63 characters a-z, 0-9, '.' or '-', the first a letter or digit"
    ) { text in
        (3...63).contains(text.utf8.count)
            && text.utf8.first.map { isLower($0) || isDigit($0) } == true
            && text.utf8.allSatisfy { isLower($0) || isDigit($0) || [0x2d, 0x2e].contains($0) }
    }
}

extension ResidualPhrase {
    static let versionsUnderLegalHold = ResidualPhrase(
        "versions_under_legal_hold",
        "object versions under legal hold lock in bucket '%'"
    )

    static let versionsUnderGovernance = ResidualPhrase(
        "versions_under_governance_lock",
        "object versions under governance lock in bucket '%'"
    )

    static let versionsUnderCompliance = ResidualPhrase(
        "versions_under_compliance_lock",
        "object versions under compliance lock in bucket '%'"
    )
}
