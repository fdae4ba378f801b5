import Lifecycle

enum RecheckColumn: Int32, Columns {
    case requestID, keyID, recheckKey, sealedUser, stage, openedAt, dueAt, returnedAt
    case isReopened, isNameless

    static let selection = makeSelection()
    static let insertion = insertion(of: allCases, into: "rechecks") + " ON CONFLICT DO NOTHING"
}

struct RecheckRow {
    let sealed: SealedRecheck
    let stage: Int
    let openedAt: WallTime
    let dueAt: WallTime
    let returnedAt: WallTime?
    let isReopened: Bool
    let isNameless: Bool

    static func find(_ id: RequestID, _ database: any StateConnection) throws -> RecheckRow? {
        try database.first(
            RecheckColumn.self,
            "FROM rechecks WHERE request_id = ?",
            [.id(id)],
            body: RecheckRow.init
        )
    }

    init(_ row: Row<RecheckColumn>) throws {
        sealed = SealedRecheck(
            request: try row.requestID(.requestID),
            keyID: row.text(.keyID),
            recheckKey: row.blob(.recheckKey),
            sealedUser: row.blob(.sealedUser)
        )
        stage = row.int(.stage)
        (openedAt, dueAt) = (row.time(.openedAt), row.time(.dueAt))
        returnedAt = row.timeOrNil(.returnedAt)
        (isReopened, isNameless) = (row.bool(.isReopened), row.bool(.isNameless))
    }
}
