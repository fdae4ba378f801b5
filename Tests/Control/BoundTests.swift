import Encoding
import Lifecycle
import Testing

@testable import Control

extension ControlSuite {
    /// The bounds of texts that come in, in the document and in the service.
    @Suite struct BoundTests {
        /// A body in which one object has the fields of a type.
        struct Body: Sendable, CustomStringConvertible {
            let type: any WireInputPart.Type
            /// What the object has besides the field that is tried.
            let others: JSONValue
            /// Where the object stands in the body; `nil` for the body itself.
            var place: String?
            let read: @Sendable ([UInt8]) throws -> Void

            var description: String { type.schemaName }

            func bytes(with name: String, _ value: JSONValue) -> [UInt8] {
                guard case .object(let others) = others else { return [] }
                let members = others.filter { $0.name != name } + [.init(name, value)]
                guard let place else { return Array(JSONValue.object(members).compactText.utf8) }
                let body: [JSONValue.Member] = [
                    .init("kind", "revoke_tokens"), .init("user_id", "a"),
                    .init(place, .object(members)),
                ]
                return Array(JSONValue.object(body).compactText.utf8)
            }
        }

        private static let time: JSONValue = "2026-11-21T08:00:00Z"
        private static let signIn: JSONValue = [
            "provider": "apple", "id_token": "t", "raw_nonce": "n",
        ]
        private static let submission: JSONValue = ["kind": "delete_account", "user_id": "a"]

        private static let bodies: [Body] = [
            Body(type: AbandonInput.self, others: ["reason": "r"]) {
                _ = try AbandonInput(body: $0)
            },
            Body(type: ApproveInput.self, others: .object([])) { _ = try ApproveInput(body: $0) },
            Body(type: SubmittedCredential.self, others: ["kind": "refresh_token", "secret": "s"]) {
                _ = try SubmittedCredential(body: $0)
            },
            Body(type: HoldInput.self, others: ["store": "t", "table": "t", "where": ["a=b"]]) {
                _ = try HoldInput(body: $0)
            },
            Body(type: OverrideInput.self, others: .object([])) { _ = try OverrideInput(body: $0) },
            Body(type: PlanInput.self, others: .object([])) { _ = try PlanInput(body: $0) },
            Body(type: ReasonInput.self, others: .object([])) { _ = try ReasonInput(body: $0) },
            Body(type: ReauthorizeInput.self, others: ["provider": "apple", "code": "c"]) {
                _ = try ReauthorizeInput(body: $0)
            },
            Body(type: ReplayTerms.self, others: ["since": time, "store": "t", "drill": true]) {
                _ = try ReplayTerms(body: $0)
            },
            Body(type: SubmissionOptions.self, others: .object([]), place: "options") {
                _ = try WireSubmission(body: $0)
            },
            Body(type: SignInInput.self, others: signIn, place: "sign_in") {
                _ = try WireSubmission(body: $0)
            },
            Body(type: SuggestInput.self, others: .object([])) { _ = try SuggestInput(body: $0) },
            Body(type: WireSubmission.self, others: submission) {
                _ = try WireSubmission(body: $0)
            },
        ]

        /// Header fields that go on as they came, and what a person types on the page.
        private static let unboundedNames =
            NotificationInput.fieldNames + [
                "Last-Event-ID", "request",
            ]

        @Test(arguments: bodies)
        func `the service refuses a text that is longer than the document says`(_ body: Body) {
            for field in body.type.fields {
                var (most, isItem) = (field.type.byteCounts?.upperBound, false)
                if case .items(let item, _) = field.type {
                    (most, isItem) = (item.byteCounts?.upperBound, true)
                }
                guard let most else { continue }
                let text = JSONValue.string("a=" + String(repeating: "b", count: most - 1))
                let bytes = body.bytes(with: field.name, isItem ? .array([text]) : text)
                #expect(throws: ControlProblem.self, "\(field.name)") { try body.read(bytes) }
            }
        }

        @Test(arguments: bodies)
        func `a text as long as the document says is read, and no longer one`(
            _ body: Body
        ) throws {
            for field in body.type.fields {
                guard let most = field.type.byteCounts?.upperBound else { continue }
                func object(_ count: Int) throws -> InputObject {
                    let text = JSONValue.string(String(repeating: "a", count: count))
                    return try InputObject([.init(field.name, text)], in: "", fields: [field])
                }
                let longest = try object(most)
                #expect(try longest.text(field.name)?.utf8.count == most, "\(field.name)")
                let longer = try object(most + 1)
                #expect(throws: ControlProblem.self, "\(field.name)") {
                    try longer.text(field.name)
                }
            }
        }

        @Test func `every kind of body is tried`() {
            let known = Set(Self.bodies.map(\.description))
            let inputs = OpenAPIDocument.types.filter(\.isInput).map(\.schemaName)
            #expect(Set(inputs) == known)
        }

        @Test func `every text that comes in has a choice or a bound in the document`() {
            let document = OpenAPIDocument.value
            var found: [String] = []
            for type in OpenAPIDocument.types where type.isInput {
                let schema = document["components"]?["schemas"]?[type.schemaName]
                for member in schema?["properties"]?.allMembers ?? [] {
                    found += Self.unbounded(member.value, type.schemaName + "." + member.name)
                }
            }
            for path in document["paths"]?.allMembers ?? [] {
                for operation in path.value.allMembers {
                    for parameter in operation.value["parameters"]?.items ?? [] {
                        let name = parameter["name"]?.string ?? ""
                        guard !Self.unboundedNames.contains(name) else { continue }
                        let schema = parameter["schema"] ?? .null
                        found += Self.unbounded(schema, path.name + " " + name)
                    }
                }
            }
            #expect(found.isEmpty)
        }

        private static func unbounded(_ schema: JSONValue, _ place: String) -> [String] {
            let names = schema.allMembers.map(\.name)
            if schema["type"] == "string", !names.contains("enum"), !names.contains("maxLength") {
                return [place]
            }
            let parts = (schema["anyOf"]?.items ?? []) + [schema["items"]].compactMap(\.self)
            return parts.flatMap { unbounded($0, place) }
        }
    }
}

extension JSONValue {
    fileprivate var allMembers: [Member] {
        if case .object(let members) = self { members } else { [] }
    }

    fileprivate var items: [JSONValue] {
        if case .array(let items) = self { items } else { [] }
    }
}
