import Cryptography
import Encoding
import Lifecycle
import Testing

@testable import Control

extension ControlSuite {
    @Suite struct StatusPageTests {
        private static let hostile =
            "\"><script>x='&'</script><b style=\"a\" onclick=y>\u{202e}\u{7}"

        private static func page(_ change: (inout StatusPage) -> Void = { _ in }) -> StatusPage {
            var page = StatusPage(
                status: Samples.status,
                overview: Samples.overview,
                providers: [Samples.health("apple")],
                stores: [Samples.health("app-db")]
            )
            change(&page)
            return page
        }

        @Test func `texts of any origin stay texts`() throws {
            var status = Samples.status
            status.version = Self.hostile
            status.alarms = [Self.hostile]
            var health = Samples.health(Self.hostile)
            health.state = .unknown(Self.hostile)
            health.detail = Self.hostile
            health.lastError = Self.hostile
            var request = Samples.fullRequest
            request.state = .unknown(Self.hostile)
            request.detail = Self.hostile
            request.steps[0].name = Self.hostile
            request.steps[0].state = .unknown(Self.hostile)
            request.steps[0].verdict = Self.hostile
            let page = StatusPage(
                status: status,
                overview: Samples.overview,
                providers: [health],
                stores: [health],
                found: .one(request)
            )
            var usual = Samples.fullRequest
            usual.state = .unknown("new")
            let plain = Self.page {
                $0.found = .one(usual)
            }
            #expect(Self.tags(page.html).sorted() == Self.tags(plain.html).sorted())
            #expect(page.html.components("&lt;script&gt;x=&#39;&amp;&#39;") > 8)
            #expect(!page.html.unicodeScalars.contains("\u{202e}"))
        }

        /// All tags as they stand.
        private static func tags(_ html: String) -> [Substring] {
            html.split(separator: "<").dropFirst().map { $0.prefix { $0 != ">" } }
        }

        @Test func `the page loads nothing and its headers forbid it`() async throws {
            let backend = FakeBackend(expecting: Set(Operation.allCases))
            let answer = try await TestServer.run(backend) { server in
                try await RawConnection.ask(server.path(.viewer), "GET", "/")
            }
            let hash = Base64.text(SHA256.hash(Array(StatusPage.style.utf8)))
            #expect(
                answer.text.contains(
                    "\r\ncontent-security-policy: default-src 'none'; style-src 'sha256-\(hash)'; "
                        + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'\r\n"
                )
            )
            #expect(answer.text.contains("\r\nx-content-type-options: nosniff\r\n"))
            #expect(answer.text.contains("\r\nreferrer-policy: no-referrer\r\n"))
            #expect(answer.text.contains("\r\ncontent-type: text/html; charset=utf-8\r\n"))
            #expect(answer.text.contains("<style>\(StatusPage.style)</style>"))
            for forbidden in ["<script", " style=", " src=", "://", "<link", " on", "@import"] {
                let html = answer.text.split(separator: "\r\n\r\n").last ?? ""
                let isFound = Self.tags(String(html)).contains { $0.contains(forbidden) }
                #expect(!isFound, "\(forbidden)")
            }
        }

        @Test func `every heading cell has a scope, every id is there once, the form has a label`()
        {
            let tags = Self.tags(Self.page { $0.found = .one(Samples.fullRequest) }.html)
            let cells = tags.filter { $0 == "th" || $0.hasPrefix("th ") }
            #expect(!cells.isEmpty && cells.allSatisfy { $0.contains("scope=\"") })
            let ids = tags.compactMap { $0.split(separator: " id=\"").dropFirst().first }
                .map { $0.prefix { $0 != "\"" } }
            #expect(Set(ids).count == ids.count)
            for landmark in ["header", "main id=\"main\"", "nav aria-label=\"Sections\"", "footer"]
            {
                #expect(tags.count { $0 == landmark } == 1, "\(landmark)")
            }
            #expect(tags.count { $0 == "h1" } == 1)
            #expect(tags.contains { $0 == "html lang=\"en\"" })
            #expect(tags.contains { $0 == "label for=\"request\"" })
            let links = tags.compactMap { $0.split(separator: "href=\"#").dropFirst().first }
                .map { $0.prefix { $0 != "\"" } }
            #expect(links.allSatisfy { ids.contains($0) })
        }

        @Test func `it says how much is open, waits and is due, and why`() {
            let html = Self.page().html
            for text in [
                "<strong>15</strong> open", "<strong>9</strong> waiting",
                "<strong>2</strong> due within 7 days",
                "<li class=\"bad\"><strong>1</strong> overdue",
                "<li>The last change of the configuration was refused.</li>",
                "<th scope=\"row\">revoking tokens</th><td class=\"n\">3</td>",
                "<th scope=\"row\">No usable token of the user is left.</th>",
                "<strong class=\"bad\">overdue</strong> since",
                "<span class=\"bad\">failing</span>: breaker, unreachable",
                "<title>Requests by month</title>", "<th scope=\"row\">November 2026</th>",
                "November 2026 so far", "Median time",
            ] {
                #expect(html.contains(text), "\(text)")
            }
        }

        @Test func `without requests and components it says so`() {
            let page = Self.page {
                $0 = StatusPage(
                    status: WireStatus(
                        version: "1",
                        state: .running,
                        startedAt: Samples.time,
                        guardState: Samples.guardState
                    ),
                    overview: RequestOverview(
                        at: Samples.time,
                        open: OpenOverview(),
                        report: Samples.overview.report
                    ),
                    providers: [],
                    stores: []
                )
            }
            for text in [
                "No request is open.", "Nothing waits.", "No request has a deadline.",
                "Stores: none is configured.", "No alarms.",
            ] {
                #expect(page.html.contains(text), "\(text)")
            }
        }

        @Test(arguments: [
            ("?request=zzzz", "This is no request id"), ("?request=019", "This is no request id"),
            ("?request=%3Cscript%3E", "This is no request id"),
            ("?request=alice%40example.org", "This is no request id"),
            ("?request=0190-0000", "This is no request id"),
            ("?request=+01900000-0000+", "<code>\(Samples.requestID)</code>"),
            ("?request=", "Look up"),
        ])
        func `a look-up answers and never repeats what was typed`(
            query: String,
            text: String
        ) async throws {
            let backend = FakeBackend(
                expecting: Set(Operation.allCases),
                shown: [Samples.fullRequest]
            )
            let answer = try await TestServer.run(backend) { server in
                try await RawConnection.ask(server.path(.viewer), "GET", "/" + query)
            }
            #expect(answer.status == 200)
            #expect(answer.text.contains(text))
            #expect(!answer.text.contains("script") && !answer.text.contains("alice"))
        }

        @Test func `several that fit are not shown`() async throws {
            let backend = FakeBackend(
                expecting: Set(Operation.allCases),
                shown: [Samples.request(), Samples.request()]
            )
            let answer = try await TestServer.run(backend) { server in
                try await RawConnection.ask(server.path(.viewer), "GET", "/?request=0190")
            }
            #expect(answer.text.contains("Several requests begin like this"))
        }

        @Test(arguments: ["?a=b", "?request=a&request=b", "?request", "?request=%zz"])
        func `another query is refused`(query: String) async throws {
            try await TestServer.run(FakeBackend(expecting: [])) { server in
                let answer = try await RawConnection.ask(server.path(.viewer), "GET", "/" + query)
                #expect(answer.status == 400)
            }
        }
    }
}

extension String {
    /// How often `text` occurs.
    fileprivate func components(_ text: String) -> Int {
        split(separator: text, omittingEmptySubsequences: false).count - 1
    }
}
