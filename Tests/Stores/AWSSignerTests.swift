import Lifecycle
import Testing

@testable import Stores

@Suite("Signatures of AWS")
struct AWSSignerTests {
    private static let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    private static func signature(
        _ message: AWSSigner.Message,
        service: String,
        added: [(name: String, value: String)],
        digest: String = empty,
        at context: String
    ) -> String? {
        // The example keys of Amazon's documentation and of its test suite.
        let secret =
            service == "s3"
            ? "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
            : "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
        let id = service == "s3" ? "AKIAIOSFODNN7EXAMPLE" : "AKIDEXAMPLE"
        let signer = AWSSigner(
            keys: AWSSigner.Keys(accessKeyID: id, secretKey: Secret(secret)),
            region: "us-east-1",
            service: service
        )
        let value = signer.authorization(for: message, with: added, digest: digest, at: context)
        return value.split(separator: "=").last.map(String.init)
    }

    /// docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html, "Examples".
    @Test(
        "the examples of the S3 documentation",
        arguments: [
            (
                "GET", "/test.txt", [("range", "bytes=0-9")], [],
                "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
            ),
            (
                "GET", "/", [], [("lifecycle", "")],
                "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"
            ),
            (
                "GET", "/", [], [("max-keys", "2"), ("prefix", "J")],
                "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
            ),
        ] as [(String, String, [(String, String)], [(String, String)], String)]
    )
    func documentation(
        method: String,
        path: String,
        headers: [(String, String)],
        query: [(String, String)],
        signature: String
    ) {
        let message = AWSSigner.Message(
            method: method,
            authority: "examplebucket.s3.amazonaws.com",
            path: path,
            query: query.map { (name: $0.0, value: $0.1) },
            headers: headers.map { (name: $0.0, value: $0.1) }
        )
        let context = "20130524T000000Z"
        let added = [
            (name: "x-amz-content-sha256", value: Self.empty), (name: "x-amz-date", value: context),
        ]
        #expect(
            Self.signature(message, service: "s3", added: added, at: context) == signature
        )
    }

    /// The suite aws-sig-v4-test-suite: get-vanilla and get-vanilla-query-order-key-case.
    @Test(
        "the examples of Amazon's test suite",
        arguments: [
            ([], "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
            (
                [("Param2", "value2"), ("Param1", "value1")],
                "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"
            ),
        ] as [([(String, String)], String)]
    )
    func suite(query: [(String, String)], signature: String) {
        let message = AWSSigner.Message(
            method: "GET",
            authority: "example.amazonaws.com",
            path: "/",
            query: query.map { (name: $0.0, value: $0.1) }
        )
        let context = "20150830T123600Z"
        let found = Self.signature(
            message,
            service: "service",
            added: [(name: "x-amz-date", value: context)],
            at: context
        )
        #expect(found == signature)
    }

    @Test("a session token is sent and signed; a time has the basic form")
    func token() {
        let keys = AWSSigner.Keys(
            accessKeyID: "a",
            secretKey: Secret("b"),
            sessionToken: Secret("canary-session-3f")
        )
        let headers = AWSSigner(keys: keys, region: "eu-central-1", service: "s3").headers(
            for: AWSSigner.Message(method: "GET", authority: "h", path: "/"),
            at: WallTime(unixMilliseconds: 1_369_353_600_000)
        )
        let values = Dictionary(headers.map { ($0.name, $0.value) }) { first, _ in first }
        #expect(values["x-amz-date"] == "20130524T000000Z")
        #expect(values["x-amz-security-token"] == "canary-session-3f")
        #expect(
            values["Authorization"]?.contains(
                "SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,"
            ) == true
        )
    }

    @Test("a service that is not S3 signs the path encoded once more, as botocore 1.44.5 does")
    func encodedTwice() {
        let signer = AWSSigner(
            keys: AWSSigner.Keys(
                accessKeyID: "AKIDEXAMPLE",
                secretKey: Secret("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
            ),
            region: "us-east-1",
            service: "es"
        )
        let message = AWSSigner.Message(
            method: "POST",
            authority: "example.es.amazonaws.com",
            path: "/users%20of%20a/_count",
            query: [(name: "q", value: "1")],
            body: Array("{}".utf8)
        )
        let time = WallTime(rfc3339: "2015-08-30T12:36:00Z") ?? .distantPast
        let value = signer.headers(for: message, at: time).last?.value
        let signature = "8d347d50a5a35dd7fcfbc9f5f1a7eab6c561103b642ddd61f83c23a37a5e399f"
        #expect(value?.hasSuffix("Signature=" + signature) == true)
    }
}
