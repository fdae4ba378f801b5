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

        @Test func `the documented fields are what is written and read`() throws {
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
            try expectDocumented(ReloadResult(reloadedAt: Samples.time))
            try expectDocumented(Samples.settings)
            try expectDocumented(try #require(Samples.status.refusedReload))
            try expectDocumented(
                WireStoredCredential(identityID: Samples.identityID, state: .pending)
            )
            let detail = ControlProblem.Detail(field: "a", message: "b")
            try expectDocumented(WireProblem(ControlProblem(.malformedField, errors: [detail])))
            try expectDocumented(detail)
        }

        /// All fields of a full value are written, as Codable writes them, and are read again.
        private func expectDocumented<T: WireObject & Codable>(_ value: T) throws {
            guard case .object(let members) = value.json else { throw TestFailure("no object") }
            #expect(members.map(\.name) == T.fields.map(\.name), "\(T.schemaName)")
            let encoded = try JSONReader.read(TypedJSON.bytes(value, .snakeCase))
            #expect(encoded.canonicalBytes == value.json.canonicalBytes, "\(T.schemaName)")
            let read = try TypedJSON.value(T.self, from: value.jsonBytes, .snakeCase)
            #expect(read.json == value.json, "\(T.schemaName)")
        }

        @Test func `a value that a newer daemon says is kept as it came`() throws {
            let json = Data("[\"parked\", \"levitating\"]".utf8)
            let values = try JSONDecoder().decode([WireValue<RequestState>].self, from: json)
            #expect(values == [.known(.parked), .unknown("levitating")])
            #expect(values.map(\.description) == ["parked", "levitating"])
        }
    }
}
