import Lifecycle

/// The status page.
extension RouteTable {
    static let page: [Route] = [
        .bare(
            .showPage,
            .get,
            "/",
            "The status page, for a browser behind a reverse proxy.",
            .page,
            isViewable: true,
            problems: [.malformedQuery]
        ) { call throws(ControlProblem) in
            let page = try await StatusPage(
                call.backend,
                PageQuery(call.query),
                caller: call.caller
            )
            return .page(Array(page.html.utf8), styleHash: StatusPage.styleHash)
        }
    ]
}
