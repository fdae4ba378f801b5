import Encoding
import Lifecycle

extension StatusPage {
    // MARK: Look-up

    var lookup: String {
        """
        <section aria-labelledby="lookup">
        <h2 id="lookup">Look up a request</h2>
        <form method="get">
        <label for="request">Request id, or its first characters</label>
        <input id="request" name="request" autocomplete="off" spellcheck="false" maxlength="36">
        <button>Look up</button>
        </form>
        \(result)
        </section>
        """
    }

    /// What was typed is not repeated: it may be anything.
    private var result: String {
        switch found {
        case nil: ""
        case .nothing?: "<p role=\"status\">No request has this id.</p>"
        case .several?:
            "<p role=\"status\">Several requests begin like this: enter more characters.</p>"
        case .unreadable?:
            "<p role=\"status\">This is no request id. One begins with 4 or more digits and "
                + "letters from a to f, such as 0190a2b4-7c11.</p>"
        case .one(let request)?: "<div role=\"status\">\n\(facts(of: request))</div>"
        }
    }

    private func facts(of request: WireRequest) -> String {
        var facts = [
            ("Request", "<code>\(request.id)</code>"),
            (
                "Kind",
                request.kind.known == .revokeTokens ? "revoke tokens" : "delete the account"
            ), ("State", HTMLText.escaped(Self.state(of: request))),
        ]
        if let reason = Self.reason(of: request) {
            let (why, remedy) = PageText.wait(reason)
            facts += [("Waits because", why), ("Goes on with", remedy)]
        } else if let detail = request.detail {
            facts.append(("Detail", HTMLText.escaped(PageText.words(detail))))
        }
        facts.append(("Made", distant(request.createdAt)))
        facts.append(("Changed", distant(request.updatedAt)))
        if let due = request.deadlineAt { facts.append(("Deadline", distant(due))) }
        if let next = request.nextAt { facts.append(("Next", distant(next))) }
        return HTMLText.facts(facts) + steps(of: request)
    }

    private func steps(of request: WireRequest) -> String {
        let rows = request.steps.map { step in
            [
                HTMLText.escaped(step.name), HTMLText.escaped(PageText.words("\(step.state)")),
                HTMLText.escaped(PageText.words(step.verdict ?? step.lastError ?? "")),
                "\(step.attempts)", step.retryAt.map(distant) ?? step.endedAt.map(distant) ?? "",
            ]
        }
        guard !rows.isEmpty else { return "" }
        return table(
            "Steps of the request",
            ["Step", "State", "Result", "Calls", "Ended, or next try"],
            rows,
            numbers: [3]
        )
    }

    private static func state(of request: WireRequest) -> String {
        request.state.known.map(PageText.state) ?? request.state.description
    }

    private static func reason(of request: WireRequest) -> ParkReason? {
        guard request.state == .known(.parked) else { return nil }
        return request.detail.flatMap(ParkReason.init(rawValue:))
    }

    // MARK: Now

    var summary: String {
        let open = overview.open.groups.reduce(0) { $0 + $1.counts.reduce(0, +) }
        let waiting = overview.open.groups.filter { $0.reason != nil }
            .reduce(0) { $0 + $1.counts.reduce(0, +) }
        let numbers = [
            ("open", open), ("waiting", waiting), ("due within 7 days", overview.open.near),
            ("overdue", overview.open.overdue),
        ]
        let tiles = numbers.map { name, count in
            let style = name == "overdue" && count > 0 ? " class=\"bad\"" : ""
            return "<li\(style)><strong>\(count)</strong> \(name)</li>"
        }
        return section(
            "now",
            "Now",
            "<ul class=\"tiles\">\n\(tiles.joined(separator: "\n"))\n</ul>\n\(alarms)"
        )
    }

    private var alarms: String {
        guard !status.alarms.isEmpty else { return "<p class=\"good\">No alarms.</p>" }
        let items = status.alarms.map { "<li>\(HTMLText.escaped(PageText.alarm($0)))</li>" }
        return "<h3>Alarms</h3>\n<ul class=\"bad\">\n\(items.joined(separator: "\n"))\n</ul>"
    }

    // MARK: Requests

    private static let ages = ["under 1 h", "1–24 h", "1–7 d", "7–30 d", "over 30 d"]

    var states: String {
        let rows = RequestState.allCases.compactMap { state -> [String]? in
            let groups = overview.open.groups.filter { $0.state == state }
            guard !groups.isEmpty else { return nil }
            let counts = Self.ages.indices.map { age in
                groups.reduce(0) { $0 + $1.counts[age] }
            }
            return [PageText.state(state)] + counts.map(Self.count)
                + [Self.count(counts.reduce(0, +))]
        }
        guard !rows.isEmpty else {
            return section("states", "Open requests", "<p>No request is open.</p>")
        }
        let body = table(
            "Open requests by state and age",
            ["State"] + Self.ages + ["All"],
            rows,
            numbers: Set(1...Self.ages.count + 1)
        )
        return section("states", "Open requests", body)
    }

    private static func count(_ count: Int) -> String { count == 0 ? "–" : "\(count)" }

    var waits: String {
        // A request can wait in several phases for the same reason.
        let groups = Dictionary(grouping: overview.open.groups, by: \.reason).compactMap {
            reason,
            groups in reason.map { (reason: $0, groups: groups.sorted(by: Self.isOlder)) }
        }.sorted { Self.isOlder($0.groups[0], $1.groups[0]) }
        let rows = groups.map { reason, groups -> [String] in
            let (why, remedy) = PageText.wait(reason)
            let count = groups.reduce(0) { $0 + $1.counts.reduce(0, +) }
            let oldest = groups[0].oldest.map(link) ?? ""
            let age = groups[0].oldestAt.map { " <span class=\"w\">\(ago($0))</span>" } ?? ""
            return [why, remedy, "\(count)", oldest + age]
        }
        guard !rows.isEmpty else {
            return section("waits", "What waits, and why", "<p>Nothing waits.</p>")
        }
        let body = table(
            "What requests wait for",
            ["Why", "What lets it go on", "Requests", "Oldest"],
            rows,
            numbers: [2]
        )
        return section("waits", "What waits, and why", body)
    }

    private static func isOlder(_ left: OpenOverview.Group, _ right: OpenOverview.Group) -> Bool {
        (left.oldestAt ?? .distantFuture) < (right.oldestAt ?? .distantFuture)
    }

    var deadlines: String {
        let rows = overview.open.deadlines.map { deadline in
            let isOverdue = deadline.at <= overview.at
            let due = "\(time(deadline.at)), \(distance(deadline.at))"
            return [
                link(deadline.request),
                isOverdue ? "<strong class=\"bad\">overdue</strong> since \(due)" : due,
                PageText.state(deadline.state)
                    + (deadline.reason.map { ": " + PageText.words($0.rawValue) } ?? ""),
            ]
        }
        guard !rows.isEmpty else {
            return section("deadlines", "Deadlines", "<p>No request has a deadline.</p>")
        }
        let body = table("The next deadlines", ["Request", "Deadline", "State"], rows)
        return section("deadlines", "Deadlines", body)
    }

    // MARK: Health

    var health: String {
        section(
            "health",
            "Providers and stores",
            components("Providers", providers) + components("Stores", stores)
        )
    }

    private func components(_ caption: String, _ items: [WireHealth]) -> String {
        guard !items.isEmpty else { return "<p>\(caption): none is configured.</p>\n" }
        let rows = items.map { item in
            let state = item.state.known.map(PageText.component) ?? item.state.description
            let reason = [item.detail, item.lastError].compactMap(\.self).map(PageText.words)
            let style = item.state == .known(.ready) ? "good" : "bad"
            let why = reason.isEmpty ? "" : ": " + reason.joined(separator: ", ")
            return [
                HTMLText.escaped(item.name),
                "<span class=\"\(style)\">\(HTMLText.escaped(state))</span>"
                    + HTMLText.escaped(why),
                "\(item.waiting)", item.retryAt.map(next) ?? "",
            ]
        }
        return table(
            caption,
            ["Name", "State, and why", "Waiting", "Next attempt"],
            rows,
            numbers: [2]
        )
    }
}

// MARK: Parts

extension StatusPage {
    func section(_ id: String, _ title: String, _ body: String) -> String {
        """
        <section aria-labelledby="\(id)">
        <h2 id="\(id)">\(title)</h2>
        \(body)
        </section>
        """
    }

    /// Where a table is wider than the screen it scrolls by itself, with keys, too.
    func table(
        _ caption: String,
        _ head: [String],
        _ rows: [[String]],
        numbers: Set<Int> = []
    ) -> String {
        """
        <div class="scroll" role="region" aria-label="\(caption)" tabindex="0">
        <table>
        <caption>\(caption)</caption>
        \(HTMLText.grid(head, rows, numbers: numbers))
        </table>
        </div>

        """
    }

    func short(_ id: RequestID) -> String {
        String(id.description.prefix(RequestID.shortLength))
    }

    private func link(_ id: RequestID) -> String {
        "<a href=\"?request=\(id)\"><code>\(short(id))</code></a>"
    }

    /// Such as `2026-11-23 09:41`.
    func time(_ time: WallTime) -> String {
        let text = time.rfc3339
        let shown = text.prefix(16).replacing("T", with: " ")
        return "<time datetime=\"\(text)\">\(shown)</time>"
    }

    private func next(_ time: WallTime) -> String {
        let text = time > overview.at ? distance(time) : "now"
        return "<time datetime=\"\(time.rfc3339)\">\(text)</time>"
    }

    private func distant(_ time: WallTime) -> String { "\(self.time(time)) (\(distance(time)))" }

    private func distance(_ time: WallTime) -> String {
        time > overview.at ? "in \(PageText.span(time.since(overview.at)))" : "\(ago(time)) ago"
    }

    private func ago(_ time: WallTime) -> String { PageText.span(overview.at.since(time)) }
}
