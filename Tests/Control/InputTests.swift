import Control
import Lifecycle
import Testing

extension ControlSuite {
    @Suite struct InputTests {
        /// Bodies up to the value of their options.
        private static let deletion = #"{"kind":"delete_account","user_id":"a","options":"#
        private static let revocation = #"{"kind":"revoke_tokens","user_id":"a","options":"#

        @Test(arguments: [
            ("{\"user_id\":\"a\"}", ControlProblem.Code.missingField, "kind"),
            ("{\"kind\":\"explode\",\"user_id\":\"a\"}", .unknownKind, "kind"),
            ("{\"kind\":\"delete_account\"}", .missingField, "user_id"),
            ("{\"kind\":\"delete_account\",\"user_id\":7}", .malformedUserID, "user_id"),
            ("{\"kind\":\"delete_account\",\"user_id\":\"\"}", .malformedUserID, "user_id"),
            (
                "{\"kind\":\"delete_account\",\"user_id\":\"a\\u0000b\"}", .malformedUserID,
                "user_id"
            ),
            ("{\"kind\":\"delete_account\",\"user_id\":\"a\\nb\"}", .malformedUserID, "user_id"),
            ("{\"kind\":[],\"user_id\":\"a\"}", .malformedField, "kind"),
            ("{\"kind\":\"delete_account\",\"user_id\":\"a\",\"xyz\":1}", .unknownField, "xyz"),
            (
                deletion + "[]}", .malformedField,
                "options"
            ),
            (
                deletion + "{\"token\":1}}",
                .unknownOption, "options.token"
            ),
            (
                deletion + "{\"grace_s\":-1}}",
                .malformedOption, "options.grace_s"
            ),
            (
                deletion + "{\"grace_s\":1e308}}",
                .malformedOption, "options.grace_s"
            ),
            (
                deletion + "{\"providers\":[\"x\"]}}",
                .malformedOption, "options.providers"
            ),
            (
                revocation + "{\"providers\":[\"../x\"]}}",
                .malformedOption, "options.providers"
            ),
            (
                deletion + "{\"reason\":\"A b\"}}",
                .malformedOption, "options.reason"
            ),
        ])
        func `a submission at fault names the field and not the value`(
            body: String,
            code: ControlProblem.Code,
            field: String
        ) {
            let problem = #expect(throws: ControlProblem.self) {
                try WireSubmission(body: Array(body.utf8))
            }
            #expect(problem?.code == code)
            #expect(problem?.errors.first?.field == field)
        }

        @Test func `no problem repeats what was sent`() {
            let canary = "canary-text-7f3a91c4d802"
            let bodies = [
                "{\"kind\":\"\(canary)\",\"user_id\":\"a\"}",
                "{\"kind\":\"delete_account\",\"user_id\":\"\(canary)\\u0000\"}",
                "{\"kind\":\"delete_account\",\"user_id\":\"a\",\"\(canary) \":1}",
                Self.deletion + "{\"reason\":\"\(canary)!\"}}",
                "\(canary)",
            ]
            for body in bodies {
                let problem = #expect(throws: ControlProblem.self) {
                    try WireSubmission(body: Array(body.utf8))
                }
                #expect(!"\(String(describing: problem))".contains(canary))
            }
        }

        @Test func `inputs survive writing and reading`() throws {
            var options = SubmissionOptions()
            options.graceSeconds = 60
            options.providers = [ProviderName("apple")]
            options.reason = "user_request"
            options.accountCreatedAt = Samples.time
            let user = try #require(UserID("ü/../ \u{202E}'; --"))
            let submission = WireSubmission(kind: .revokeTokens, user: user, options: options)
            #expect(try WireSubmission(body: submission.body) == submission)

            var credential = SubmittedCredential(kind: .authorizationCode, secret: Secret("s\"1"))
            credential.rawNonce = Secret("n")
            credential.subject = Secret("sub")
            // Of a mobile SDK of Google's.
            credential.redirectURI = ""
            let read = try SubmittedCredential(body: credential.body)
            #expect(read.secret.isEqual(to: credential.secret))
            #expect(read.rawNonce?.exposeText() == "n")
            #expect(read.subject?.exposeText() == "sub" && read.codeVerifier == nil)
            #expect(read.redirectURI == "")

            var filter = WireRequestFilter(limit: 7)
            filter.idPrefix = "01a20766-9"
            filter.user = user
            filter.state = .parked
            filter.provider = ProviderName("apple")
            filter.cursor = "a=b&c"
            #expect(try WireRequestFilter(query: filter.query[...]) == filter)
            #expect(try WireRequestFilter(query: "user_id=a+b%2Bc").user == UserID("a b+c"))
        }

        @Test func `a body has what was given, and no more`() throws {
            let user = try #require(UserID("a"))
            let (apple, secret) = (ProviderName("apple"), Secret("s"))
            var terms = ReplayTerms(since: Samples.time, store: StoreName("db"))
            (terms.isDrill, terms.copy, terms.id) = (true, "c", "i")
            var proof = ReauthorizeInput(provider: apple)
            proof.code = secret
            var submission = WireSubmission(kind: .deleteAccount, user: user)
            submission.signIn = SignInInput(provider: apple, idToken: secret, rawNonce: secret)
            submission.notifyEmail = MailAddress("a@example.org")
            let bodies: [(body: [UInt8], text: String)] = [
                (ReasonInput().body, "{}"),
                (ReasonInput(reason: "r").body, #"{"reason":"r"}"#),
                (
                    AbandonInput(reason: "r", provider: apple).body,
                    #"{"reason":"r","provider":"apple"}"#
                ),
                (ApproveInput(plan: "p").body, #"{"plan":"p"}"#),
                (PlanInput(user: user).body, #"{"user_id":"a"}"#),
                (SuggestInput(userTable: "u.id").body, #"{"user_table":"u.id"}"#),
                (OverrideInput(count: 7).body, #"{"count":7}"#),
                (proof.body, #"{"provider":"apple","code":"s"}"#),
                (
                    terms.body,
                    #"{"since":"\#(Samples.time)","store":"db","drill":true,"copy":"c","id":"i"}"#
                ),
                (
                    submission.body,
                    #"{"kind":"delete_account","user_id":"a","options":{},"sign_in":"#
                        + #"{"provider":"apple","id_token":"s","raw_nonce":"s"},"#
                        + #""notify_email":"a@example.org","language":"en"}"#
                ),
            ]
            for (body, text) in bodies { #expect(String(decoding: body, as: UTF8.self) == text) }
        }

        @Test(arguments: [
            "limit=0", "limit=1001", "limit=x", "state=none", "what=1", "limit=1&limit=2",
            "user_id=", "user_id", "cursor=%zz", "&", "id_prefix=01a", "id_prefix=01a20766x",
        ])
        func `a query at fault is refused`(_ query: String) {
            #expect(throws: ControlProblem.self) { try WireRequestFilter(query: query[...]) }
        }

        @Test func `a sign-in needs an id token or a code`() {
            let problem = #expect(throws: ControlProblem.self) {
                try ReauthorizeInput(body: Array("{\"provider\":\"apple\"}".utf8))
            }
            #expect(problem?.code == .missingField)
        }
    }
}
