/// What deleting one account would do, everywhere: what an operator reads and approves.
///
/// Names of the configuration and counts, never personal data.
package struct PurgePlan: Hashable, Sendable {
    /// An identity whose tokens would be revoked.
    package struct Link: Hashable, Sendable {
        package let identity: IdentityID
        package let provider: ProviderName
        package let clientID: String

        package init(identity: IdentityID, provider: ProviderName, clientID: String) {
            self.identity = identity
            self.provider = provider
            self.clientID = clientID
        }
    }

    /// What would be done in one store.
    package struct Part: Hashable, Sendable {
        package let target: TargetName
        /// In the order of work; `nil` for a store that cannot tell before it purges.
        package let items: [PlanItem]?

        package init(target: TargetName, items: [PlanItem]?) {
            self.target = target
            self.items = items
        }
    }

    /// In the order of the request.
    package let links: [Link]
    /// In the order of purging.
    package let parts: [Part]
    /// Stands for all of it and for the user: 32 hexadecimal digits of a keyed hash of
    /// ``canonicalText(of:_:user:)``.
    package let hash: String

    package init(links: [Link], parts: [Part], hash: String) {
        self.links = links
        self.parts = parts
        self.hash = hash
    }

    /// The text that ``hash`` is taken of; equal for equal plans of one user only.
    ///
    /// Each field is written behind its length, so that no two plans share a text. Rows that the
    /// time fence leaves alone are not in it: however many there are, the same would be done.
    ///
    /// - Parameters:
    ///   - links: The identities, in order.
    ///   - parts: The stores, in order.
    ///   - user: The keyed hash of the user id.
    /// - Returns: Text without personal data.
    package static func canonicalText(of links: [Link], _ parts: [Part], user: [UInt8]) -> String {
        var fields = ["plan 1", user.map { String($0, radix: 16) }.joined(separator: ".")]
        for link in links {
            fields += ["link", link.identity.description, link.provider.rawValue, link.clientID]
        }
        for part in parts {
            fields += ["target", part.target.rawValue, part.items == nil ? "unknown" : "counted"]
            for item in part.items ?? [] {
                fields += [
                    "item", item.name, item.action.rawValue, item.reason.map { "=" + $0 } ?? "-",
                    "\(item.count)", item.isBounded ? "or more" : "exactly",
                ]
            }
        }
        return fields.map { "\($0.utf8.count):\($0)" }.joined()
    }
}

/// What asking every store of a request for its plan brought.
package enum PlanResult: Hashable, Sendable {
    case made(PurgePlan)
    /// One store could not be asked, so there is no plan.
    case trouble(TargetName, Trouble)
}

/// One line of the difference between two plans.
package struct PlanChange: Hashable, Sendable {
    /// What it is about.
    package enum Subject: Hashable, Sendable {
        case link(PurgePlan.Link)
        case item(TargetName, name: String, PlanItem.Action)
        /// A store that could tell and now cannot, or the other way round.
        case target(TargetName)
    }

    package let subject: Subject
    /// `nil` when it is new.
    package let was: PlanItem?
    /// `nil` when it is gone.
    package let now: PlanItem?
    package let isNew: Bool
}

extension PurgePlan {
    /// What differs from an earlier plan: first what is gone, then what is new or has other counts.
    package func changes(since earlier: PurgePlan) -> [PlanChange] {
        let (old, new) = (earlier.lines, lines)
        let gone = old.filter { line in !new.contains { $0.subject == line.subject } }
        var changes = gone.map {
            PlanChange(subject: $0.subject, was: $0.item, now: nil, isNew: false)
        }
        for line in new {
            let before = old.first { $0.subject == line.subject }
            guard before == nil || before?.item?.isSamePurge(as: line.item) == false else {
                continue
            }
            changes.append(
                PlanChange(
                    subject: line.subject,
                    was: before?.item,
                    now: line.item,
                    isNew: before == nil
                )
            )
        }
        return changes
    }

    private struct Line {
        let subject: PlanChange.Subject
        let item: PlanItem?
    }

    private var lines: [Line] {
        links.map { Line(subject: .link($0), item: nil) }
            + parts.flatMap { part -> [Line] in
                guard let items = part.items else {
                    return [Line(subject: .target(part.target), item: nil)]
                }
                return items.map {
                    Line(subject: .item(part.target, name: $0.name, $0.action), item: $0)
                }
            }
    }
}

extension PlanItem {
    /// Whether the same would be done; see ``PurgePlan/canonicalText(of:_:user:)``.
    fileprivate func isSamePurge(as other: PlanItem?) -> Bool {
        guard let other else { return false }
        return count == other.count && isBounded == other.isBounded && reason == other.reason
    }
}
