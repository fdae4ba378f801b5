import Lifecycle
import Testing

/// What a provider's notification means for what is stored of the user whom it names.
struct NotificationWeightTests {
    private static let occurredAt = Sample.start

    private static func link(
        createdAfter seconds: Int = -100,
        freshAfter fresh: Int? = nil
    ) -> NotificationWeight.Link {
        NotificationWeight.Link(
            createdAt: occurredAt + .seconds(seconds),
            freshAt: fresh.map { occurredAt + .seconds($0) }
        )
    }

    private static func weight(_ meaning: NotificationMeaning) -> NotificationWeight {
        NotificationWeight(meaning, at: occurredAt)
    }

    @Test(arguments: NotificationMeaning.allCases)
    func `only what cuts a link cuts one, and nothing that is fresher`(
        _ meaning: NotificationMeaning
    ) {
        let weight = Self.weight(meaning)
        #expect(weight.cuts(Self.link()) == meaning.cutsLink)
        #expect(weight.cuts(Self.link(freshAfter: 0)) == meaning.cutsLink)
        #expect(!weight.cuts(Self.link(freshAfter: 1)))
    }

    @Test(arguments: NotificationMeaning.allCases)
    func `an account that ended is an earlier one where every link is newer`(
        _ meaning: NotificationMeaning
    ) {
        let weight = Self.weight(meaning)
        let (older, ahead) = (Self.link(createdAfter: 0), Self.link(createdAfter: 60))
        let newer = Self.link(createdAfter: 61)
        #expect(weight.endsEarlier([newer, newer]) == meaning.endsAccount)
        for links in [[], [older], [ahead], [older, newer]] { #expect(!weight.endsEarlier(links)) }
    }

    @Test func `a cut alone is worth nothing where it cuts nothing`() {
        let needing = NotificationMeaning.allCases.filter { Self.weight($0).needsCut }
        #expect(needing == [.linkCut, .other])
    }
}
