import Cryptography
import Encoding
package import Lifecycle

/// The service at a glance, for people who may see no personal data: one page without scripts.
///
/// Whoever reads it sees what viewers see, operators too, since a proxy may publish it.
struct StatusPage: Sendable {
    enum Found: Sendable {
        case nothing
        case one(WireRequest)
        case several
        /// The text is no beginning of an id.
        case unreadable
    }

    let status: WireStatus
    let overview: RequestOverview
    let providers: [WireHealth]
    let stores: [WireHealth]
    /// `nil` when nothing was looked up.
    var found: Found?

    /// The SHA-256 of the style, as a source expression has it
    /// (https://www.w3.org/TR/CSP3/#framework-directive-source-list).
    static let styleHash = Base64.text(SHA256.hash(Array(style.utf8)))

    var html: String {
        let name =
            if case .one(let request)? = found { "Request \(short(request.id))" } else {
                "Account deletions"
            }
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(name) – expunged</title>
            <style>\(Self.style)</style>
            </head>
            <body>
            <a class="skip" href="#main">Skip to the content</a>
            <header>
            <h1>Account deletions</h1>
            <p>\(HTMLText.escaped("expunged \(status.version)")), as of \(time(overview.at))</p>
            <nav aria-label="Sections"><ul>
            \(navigation)
            </ul></nav>
            </header>
            <main id="main">
            \(lookup)
            \(summary)
            \(states)
            \(waits)
            \(deadlines)
            \(health)
            \(months)
            </main>
            <footer>
            <p>Times are UTC. This page shows no personal data. Reload it for newer numbers.</p>
            </footer>
            </body>
            </html>

            """
    }

    private var navigation: String {
        let sections = [
            ("now", "Now"), ("states", "Open requests"), ("waits", "Waiting"),
            ("deadlines", "Deadlines"), ("health", "Providers and stores"),
            ("months", "Months"),
        ]
        return sections.map { "<li><a href=\"#\($0.0)\">\($0.1)</a></li>" }
            .joined(separator: "\n")
    }
}

extension StatusPage {
    /// Asks the backend for all that the page shows, and leaves personal data out.
    init(
        _ backend: any ControlBackend,
        _ query: PageQuery,
        caller: Caller
    ) async throws(ControlProblem) {
        status = try await backend.status(caller: caller).forViewers
        overview = try await backend.overview(caller: caller)
        providers = try await backend.providers(caller: caller).forViewers.items
        stores = try await backend.stores(caller: caller).forViewers.items
        guard let text = query.request else { return }
        found = try await Self.find(text, in: backend, caller: caller)
    }

    private static func find(
        _ text: String,
        in backend: any ControlBackend,
        caller: Caller
    ) async throws(ControlProblem) -> Found {
        guard RequestID.range(prefix: text) != nil else { return .unreadable }
        var filter = WireRequestFilter(limit: 2)
        filter.idPrefix = text
        let matches = try await backend.list(filter, caller: caller).items
        guard let match = matches.first else { return .nothing }
        guard matches.count == 1 else { return .several }
        return .one(try await backend.show(match.id, caller: caller).forViewers)
    }
}

/// What the status page is asked for: nothing, or a request.
struct PageQuery {
    /// As it was typed, without the spaces around it.
    private(set) var request: String?

    static let fields: [WireField] = [
        .optional("request", .text, "The id of a request, or how it begins.")
    ]

    /// Reads the text after `?`, as a form sends it.
    init(_ query: Substring) throws(ControlProblem) {
        guard let value = try PathText.pairs(query, of: Self.fields).first?.value else { return }
        let text = value.drop { $0 == " " }
        let end = text.lastIndex { $0 != " " }.map(text.index(after:)) ?? text.startIndex
        request = end == text.startIndex ? nil : String(text[..<end])
    }
}

/// How old open requests are, what they wait for, and which are due next.
package struct RequestOverview: Sendable, Hashable {
    /// A range of ages has this upper end; the last range has none.
    package static let ages: [Duration] = [.seconds(3600), days(1), days(7), days(30)]
    /// How many of the next deadlines are named.
    package static let deadlinesMax = 10
    /// A deadline within this time is near.
    package static let nearness = days(7)

    package let at: WallTime
    package let open: OpenOverview
    /// This month and those before it; it may be some minutes old.
    package let report: WireReport

    package init(at: WallTime, open: OpenOverview, report: WireReport) {
        (self.at, self.open, self.report) = (at, open, report)
    }

    private static func days(_ count: Int) -> Duration { .seconds(count * 86_400) }
}
