package import Lifecycle

/// Why a bucket did not do its work; holds no key and no text of the server.
package struct S3Error: Error, Hashable, Sendable, CustomStringConvertible {
    /// The closed set of causes.
    package enum Kind: String, Sendable, CaseIterable {
        /// No connection, or no TLS that proves the server.
        case unreachable
        /// Sent, and no complete answer came back.
        case lost
        /// The server asks for a pause.
        case throttled
        /// Keys, permissions, the bucket or the region are wrong.
        case refused
        /// What was asked for is not there.
        case absent
        /// An answer that means nothing here.
        case unusable = "unusable_answer"
    }

    package let kind: Kind
    package let target: TargetName
    /// What the server asked for, when it did.
    package let retryAfter: Duration?

    package init(_ kind: Kind, target: TargetName, retryAfter: Duration? = nil) {
        self.kind = kind
        self.target = target
        self.retryAfter = retryAfter
    }

    /// Classifies an error code (docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html).
    static func kind(ofCode code: String?, status: Int) -> Kind {
        switch code {
        case "SlowDown", "ServiceUnavailable", "RequestLimitExceeded", "TooManyRequests",
            "InternalError", "OperationAborted", "RequestTimeout":
            return .throttled
        case "NoSuchKey", "NoSuchVersion", "NoSuchUpload", "NoSuchObjectLockConfiguration",
            "ObjectLockConfigurationNotFoundError":
            return .absent
        case "NoSuchBucket", "AccessDenied", "AccountProblem", "AllAccessDisabled",
            "AuthorizationHeaderMalformed", "ExpiredToken", "InvalidAccessKeyId",
            "InvalidBucketName", "InvalidToken", "PermanentRedirect", "RequestTimeTooSkewed",
            "SignatureDoesNotMatch", "TokenRefreshRequired":
            return .refused
        default: break
        }
        switch status {
        case 429, 503: return .throttled
        case 301, 302, 307, 308, 401, 403: return .refused
        default: return .unusable
        }
    }

    /// What the error means for the orders that met it.
    package var failure: EffectFailure {
        switch kind {
        case .unreachable: .unreachable
        case .lost: .lost
        case .throttled: .throttled(retryAfter: retryAfter)
        case .refused: .misconfigured
        case .absent, .unusable: .unusable
        }
    }

    package var description: String { "cannot purge target at '\(target)' (\(kind.rawValue))" }
}
