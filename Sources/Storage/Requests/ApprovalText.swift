import FoundationEssentials
import Lifecycle

/// A plan and its approval as JSON: names of the configuration and counts, never personal data.
enum ApprovalText {
    /// - Throws: `EncodingError`, never for a value of ours.
    static func encode(_ approval: Approval) throws -> String {
        let stored = Stored(
            plan: approval.plan.map(StoredPlan.init),
            earlier: approval.earlier.map(StoredPlan.init),
            given: approval.given.map(StoredGiven.init),
            first: approval.first.map(StoredGiven.init),
            failures: approval.failures == 0 ? nil : approval.failures,
            retryAt: approval.retryAt?.unixMilliseconds,
            failure: approval.lastFailure,
            target: approval.failingTarget?.rawValue
        )
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(stored), as: UTF8.self)
    }

    static func decode(_ text: String?) throws -> Approval? {
        guard let text else { return nil }
        do {
            let stored = try JSONDecoder().decode(Stored.self, from: Data(text.utf8))
            var approval = Approval()
            approval.plan = try stored.plan?.plan
            approval.earlier = try stored.earlier?.plan
            approval.given = stored.given?.given
            approval.first = stored.first?.given
            approval.failures = stored.failures ?? 0
            approval.retryAt = stored.retryAt.map { WallTime(unixMilliseconds: $0) }
            approval.lastFailure = stored.failure
            approval.failingTarget = stored.target.map { TargetName($0) }
            return approval
        } catch {
            throw StorageError.malformed("approval")
        }
    }

    private struct Stored: Codable {
        var plan: StoredPlan?
        var earlier: StoredPlan?
        var given: StoredGiven?
        var first: StoredGiven?
        var failures: Int?
        var retryAt: Int64?
        var failure: String?
        var target: String?
    }

    private struct StoredGiven: Codable {
        var hash: String
        var at: Int64
        var by: UInt32

        init(_ given: Approval.Given) {
            hash = given.hash
            at = given.at.unixMilliseconds
            by = given.by
        }

        var given: Approval.Given {
            Approval.Given(hash: hash, at: WallTime(unixMilliseconds: at), by: by)
        }
    }

    private struct StoredPlan: Codable {
        var hash: String
        var links: [StoredLink]
        var parts: [StoredPart]

        init(_ plan: PurgePlan) {
            hash = plan.hash
            links = plan.links.map {
                StoredLink(
                    identity: $0.identity.description,
                    provider: $0.provider.rawValue,
                    client: $0.clientID
                )
            }
            parts = plan.parts.map { part in
                StoredPart(
                    target: part.target.rawValue,
                    items: part.items?.map(StoredItem.init),
                    rules: part.rules.map { StoredRule(key: $0.key, value: $0.value) }
                )
            }
        }

        var plan: PurgePlan {
            get throws {
                PurgePlan(
                    links: try links.map { try $0.link },
                    parts: try parts.map { part in
                        PurgePlan.Part(
                            target: TargetName(part.target),
                            items: try part.items?.map { try $0.item },
                            rules: part.rules.map {
                                PurgePlan.Rule(key: $0.key, value: $0.value)
                            }
                        )
                    },
                    hash: hash
                )
            }
        }
    }

    private struct StoredLink: Codable {
        var identity: String
        var provider: String
        var client: String

        var link: PurgePlan.Link {
            get throws {
                guard let id = IdentityID(identity) else {
                    throw StorageError.malformed("approval")
                }
                return PurgePlan.Link(
                    identity: id,
                    provider: ProviderName(provider),
                    clientID: client
                )
            }
        }
    }

    private struct StoredPart: Codable {
        var target: String
        var items: [StoredItem]?
        var rules: [StoredRule]
    }

    private struct StoredRule: Codable {
        var key: String
        var value: String
    }

    private struct StoredItem: Codable {
        var name: String
        var action: String
        var reason: String?
        var count: Int
        var bounded: Bool
        var newer: Int
        var undated: Int?
        var withoutTimestamps: Bool?

        init(_ item: PlanItem) {
            name = item.name
            action = item.action.rawValue
            reason = item.reason
            count = item.count
            bounded = item.isBounded
            newer = item.newerCount
            undated = item.undatedCount == 0 ? nil : item.undatedCount
            withoutTimestamps = item.hasNoTimestamps ? true : nil
        }

        var item: PlanItem {
            get throws {
                guard let action = PlanItem.Action(rawValue: action) else {
                    throw StorageError.malformed("approval")
                }
                return PlanItem(
                    name: name,
                    action: action,
                    reason: reason,
                    count: count,
                    isBounded: bounded,
                    newerCount: newer,
                    undatedCount: undated ?? 0,
                    hasNoTimestamps: withoutTimestamps ?? false
                )
            }
        }
    }
}
