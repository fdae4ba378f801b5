import Lifecycle

enum PurgeColumn: Int32, Columns {
    case requestID, position
    case store, step, counts, attempts, failures, outages, retryAt, startedAt, endedAt
    case lastFailure, restoredAt, judgedAt, fewestLeft, obstacle

    static let selection = makeSelection()
    static let insertion = insertion(of: allCases, into: "purges")
    static let update = update(of: allCases, in: "purges", keyCount: 2)
}

extension PurgeWork {
    init(_ row: Row<PurgeColumn>) throws {
        self.init(store: row.store(.store))
        step = try row.choice(.step, as: PurgeWork.Step.self)
        counts = try PurgeCounts(columnText: row.text(.counts))
        attempts = row.int(.attempts)
        failures = row.int(.failures)
        outages = row.int(.outages)
        retryAt = row.timeOrNil(.retryAt)
        startedAt = row.timeOrNil(.startedAt)
        endedAt = row.timeOrNil(.endedAt)
        lastFailure = row.textOrNil(.lastFailure)
        restoredAt = row.timeOrNil(.restoredAt)
        judgedAt = row.timeOrNil(.judgedAt)
        fewestLeft = row.intOrNil(.fewestLeft)
        obstacle = row.textOrNil(.obstacle)
    }

    func value(_ column: PurgeColumn, at position: Int, of request: RequestID) -> SQLValue {
        switch column {
        case .requestID: .id(request)
        case .position: .int(position)
        case .store: .text(store.rawValue)
        case .step: .text(step.rawValue)
        case .counts: .text(counts.columnText)
        case .attempts: .int(attempts)
        case .failures: .int(failures)
        case .outages: .int(outages)
        case .retryAt: .time(retryAt)
        case .startedAt: .time(startedAt)
        case .endedAt: .time(endedAt)
        case .lastFailure: .text(lastFailure)
        case .restoredAt: .time(restoredAt)
        case .judgedAt: .time(judgedAt)
        case .fewestLeft: .int(fewestLeft)
        case .obstacle: .text(obstacle)
        }
    }

    func differsOnDisk(from other: PurgeWork) -> Bool {
        var same = other
        same.isBusy = isBusy
        return self != same
    }
}
