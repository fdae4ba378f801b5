import Encoding
import Testing

@testable import HTTP

@Suite("what is read of an error") struct ErrorCodeTests {
    @Test(
        "the code is that of OAuth 2 or the vendor's own, with a closer one behind it",
        arguments: [
            (#"{"error":"invalid_grant"}"#, "invalid_grant"),
            (#"{"error":"invalid_grant","error_codes":[700082]}"#, "invalid_grant/AADSTS700082"),
            (#"{"error":"invalid_grant","error_subtype":"rapt"}"#, "invalid_grant/rapt"),
            (#"{"error":{"code":"Request_Denied"}}"#, "Request_Denied"),
            (#"{"error":{"code":10}}"#, "10"),
            (#"{"error":{"code":10,"error_subcode":1363041}}"#, "10/1363041"),
            (#"{"error":{"error_subcode":1363041}}"#, nil),
            (#"{"errors":[{"code":89}]}"#, "89"),
        ] as [(String, String?)]
    )
    func codes(_ text: String, _ code: String?) throws {
        let json = try #require(JSONValue(Array(text.utf8)))
        #expect(json.errorCode == code)
    }
}
