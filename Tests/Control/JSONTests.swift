import Control
import Encoding
import FoundationEssentials
import Lifecycle
import Testing

extension ControlSuite {
    @Suite struct JSONTests {
        @Test(arguments: [
            "", " ", "{", "}", "[1,]", "{\"a\":}", "{\"a\" 1}", "{'a':1}", "01", "-", "1.", "1e",
            "1e999", "NaN", "Infinity", "tru", "nul", "\"", "\"\\x\"", "\"\\ud800\"",
            "\"\\ud800\\u0041\"", "\"\\udc00\"", "\"\\u12\"", "\"\u{01}\"", "\u{feff}{}", "{} {}",
            "{\"a\":1,\"a\":2}", "[1 2]", "{\"a\":1,}", "\"a\nb\"", "+1", ".5", "0x10",
        ])
        func `text that is not strict JSON is refused`(_ text: String) {
            #expect(throws: JSONError.self) { try JSONReader.read(Array(text.utf8)) }
        }

        @Test func `bytes that are not UTF-8 are refused`() {
            let bytes: [UInt8] = [0x22, 0xc3, 0x28, 0x22]
            #expect(throws: JSONError(kind: .malformedText, byteOffset: 1)) {
                try JSONReader.read(bytes)
            }
        }

        @Test func `depth is bounded without recursion failure`() {
            let deep = Array(String(repeating: "[", count: 1_000_000).utf8)
            let error = #expect(throws: JSONError.self) { try JSONReader.read(deep) }
            #expect(error?.kind == .tooDeep)
            let allowed = String(repeating: "[", count: 16) + String(repeating: "]", count: 16)
            #expect(throws: Never.self) { try JSONReader.read(Array(allowed.utf8)) }
        }

        @Test func `a value survives writing and reading`() throws {
            let value = JSONValue.object([
                .init("text", .string("\u{1F600} \" \\ \u{7f} \n \u{0}é")),
                .init("numbers", .array([.integer(.min), .integer(0), .number(1.5)])),
                .init("rest", .array([.null, .bool(true), .object([])])),
            ])
            #expect(try JSONReader.read(Array(value.compactText.utf8)) == value)
            #expect(try JSONReader.read(Array(value.indentedText.utf8)) == value)
            let escaped = "\"\\ud83d\\ude00\\u00e9\\/\\b\""
            #expect(try JSONReader.read(Array(escaped.utf8)) == .string("\u{1F600}é/\u{8}"))
        }

        @Test func `what a record writes is what Codable writes`() throws {
            for request in [Samples.request(), Samples.fullRequest] {
                var writer = JSONWriter()
                request.write(to: &writer)
                let decoded = try TypedJSON.value(WireRequest.self, from: writer.bytes, .snakeCase)
                #expect(decoded == request)
                let encoded = try JSONReader.read(TypedJSON.bytes(request, .snakeCase))
                #expect(sorted(encoded) == sorted(try JSONReader.read(writer.bytes)))
            }
            let problem = WireProblem(
                ControlProblem(.malformedField, errors: [.init(field: "a", message: "b")])
            )
            var writer = JSONWriter()
            problem.write(to: &writer)
            #expect(
                try TypedJSON.value(WireProblem.self, from: writer.bytes, .snakeCase) == problem
            )
        }

        private func sorted(_ value: JSONValue) -> JSONValue {
            switch value {
            case .object(let members):
                .object(
                    members.map { .init($0.name, sorted($0.value)) }.sorted { $0.name < $1.name }
                )
            case .array(let items): .array(items.map(sorted))
            default: value
            }
        }

        private func expectReportDocumented() throws {
            let report = Samples.report(of: CalendarMonth(of: Samples.time, in: .utc), in: "UTC")
            try expectDocumented(report)
            try expectDocumented(try #require(report.controller))
            try expectDocumented(report.gaps)
            try expectDocumented(report.requests[0])
            try expectDocumented(report.days[0])
            try expectDocumented(report.months[0])
            try expectDocumented(report.erasure)
            try expectDocumented(report.erasure.spans[0])
            try expectDocumented(report.open)
            try expectDocumented(report.open.waiting[0])
            try expectDocumented(report.verdicts[0])
            try expectDocumented(report.kept[0])
            try expectDocumented(report.copies[0])
            try expectDocumented(report.holds)
            try expectDocumented(report.holds.stores[0])
            try expectDocumented(report.recipients[0])
        }

        @Test func `the documented fields are the encoded fields`() throws {
            try expectDocumented(Samples.fullRequest)
            try expectDocumented(Samples.identity)
            try expectDocumented(Samples.identity.userAction ?? WireUserAction(url: "", text: ""))
            try expectDocumented(try #require(Samples.identity.failedCode))
            try expectDocumented(WireAnswer(Samples.answer))
            try expectDocumented(WireUnheld(lostCodes: 0, refusedCredentials: 0))
            for item in Samples.fullRequest.forgotten ?? [] { try expectDocumented(item) }
            for item in Samples.fullRequest.addenda ?? [] { try expectDocumented(item) }
            try expectDocumented(Samples.step)
            try expectDocumented(Samples.fullEvent)
            try expectDocumented(Samples.guardState)
            try expectDocumented(Samples.replay)
            try expectDocumented(Samples.replay.stores[0])
            var ledger = Samples.damagedLedger
            ledger.checkpoint = Samples.ledger.checkpoint
            ledger.checkpointAt = Samples.time
            try expectDocumented(ledger)
            try expectDocumented(ledger.findings[0])
            try expectDocumented(Samples.ledgerEntries(from: 0))
            try expectDocumented(Samples.hosts[0])
            try expectDocumented(Samples.vault)
            try expectDocumented(Samples.vault.keys[0])
            try expectDocumented(Samples.vault.rotation)
            try expectDocumented(Samples.status)
            try expectReportDocumented()
            try expectDocumented(Samples.health("a"))
            try expectDocumented(
                WireServiceHealth(version: "1", isIntakePaused: false, isVaultSealed: true)
            )
            try expectDocumented(WireList([Samples.step], nextCursor: "c"))
            try expectDocumented(Samples.notification)
            try expectDocumented(Samples.notificationStatus)
            try expectDocumented(Samples.plan)
            for identity in Samples.plan.identities { try expectDocumented(identity) }
            try expectDocumented(Samples.plan.stores[0])
            try expectDocumented(Samples.plan.stores[0].items[1])
            try expectDocumented(Samples.plan.stores[0].rules[0])
            var change = Samples.plan.changes[1]
            change.provider = "apple"
            change.rule = "table posts (author_id)"
            (change.ruleWas, change.ruleNow) = ("a", "b")
            try expectDocumented(change)
            try expectDocumented(Samples.hold)
            try expectDocumented(WireUserHold(name: "user.AAE", isHeld: true, since: Samples.time))
            try expectDocumented(WireReload(reloadedAt: Samples.time))
            try expectDocumented(Samples.settings)
            try expectDocumented(try #require(Samples.status.refusedReload))
            try expectDocumented(
                WireStoredCredential(identityID: Samples.identityID, state: .pending)
            )
            try expectDocumented(
                WireProblem(ControlProblem(.internal, errors: [.init(message: "m")]))
            )
        }

        private func expectDocumented<T: WireObject & Encodable>(_ value: T) throws {
            let json = try JSONReader.read(TypedJSON.bytes(value, .snakeCase))
            guard case .object(let members) = json else { throw TestFailure("no object") }
            #expect(Set(members.map(\.name)) == Set(T.fields.map(\.name)), "\(T.schemaName)")
        }

        @Test func `a value that a newer daemon says is kept as it came`() throws {
            let json = Data("[\"parked\", \"levitating\"]".utf8)
            let values = try JSONDecoder().decode([WireValue<RequestState>].self, from: json)
            #expect(values == [.known(.parked), .unknown("levitating")])
            #expect(values.map(\.description) == ["parked", "levitating"])
        }
    }
}
