import CSQLiteGuard
import Encoding
package import Engine
internal import Glibc
package import Lifecycle

extension SQLiteStore {
    /// What `PRAGMA auto_vacuum` answers for INCREMENTAL.
    private static let incrementalMode = 2
    private static let vacuumProblem =
        "vacuum = \"incremental\" needs a database with PRAGMA auto_vacuum = INCREMENTAL"

    /// Makes the plan that leaves those rows alone, and drops it.
    package func check(_ filter: RowFilter) async -> FilterAnswer {
        await answering(FilterAnswer.failure) {
            let problems = try await examine([filter]).found.problems
            return problems.first.map { .refused($0.description) } ?? .accepted
        }
    }

    func examine(
        _ holds: [RowFilter] = [],
        sparingLongValues isSparing: Bool = false
    ) async throws -> (found: SQLFindings, plan: Plan?) {
        var rules = configuration.workRules(holds: holds)
        rules.sparesLongValues = isSparing
        let (wanted, clock) = (rules, clock)
        return try await read { reader in
            let diagnosis = try SQLiteDiagnosis(reader, wanted, at: clock.wall())
            return (found: diagnosis.found, plan: diagnosis.plan)
        }
    }

    /// Compares the configuration with the live schema; another program's lock is an outage.
    package func inspect(withOutages: Bool) async -> StoreFindings {
        var found = SQLiteDirectory.inspect(path: configuration.path)
        // Opening it would make a file wherever the service happens to stand.
        guard configuration.path.hasPrefix("/"), found.problems.isEmpty else {
            return found.findings
        }
        var isLocked = false
        do {
            try await letGoOfMoved()
            let (inside, plan) = try await examine()
            // Values stored since the plan was made may forbid it now.
            plans = [:]
            plans[PlanKind()] = plan
            if withOutages, plan != nil { await noteOrphans() }
            found.add(inside)
            if configuration.vacuum == .incremental {
                let mode = try await read { try $0.count("PRAGMA main.auto_vacuum") }
                if mode != Self.incrementalMode { found.refuse(Self.vacuumProblem) }
            }
        } catch {
            let error = SQLError(error, store: name)
            forget(after: error)
            isLocked = error.kind == .busy || error.kind == .timeout
            found.refuse(error.description)
        }
        if let refusal = newRefusal() {
            found.refuse(refusal)
            isLocked = false
        }
        if isLocked && !withOutages { found.problems = [] }
        return found.findings
    }

    private func newRefusal() -> String? {
        let path = configuration.path
        let refusals = unsafe csqliteguard_refusals(path)
        guard refusals > guardBaseline else { return nil }
        defer { guardBaseline = refusals }
        let kind = unsafe String(
            cString: csqliteguard_refusal_name(csqliteguard_last_refusal(path))
        )
        return "\(refusals - guardBaseline) accesses beside '\(path)' were refused, the last one:"
            + " \(kind)"
    }
}

/// What SQLite needs around the file, and reports as a bare error code when it is missing.
enum SQLiteDirectory {
    static func inspect(path: String) -> SQLFindings {
        var found = SQLFindings()
        guard path.hasPrefix("/"), let slash = path.lastIndex(of: "/") else {
            found.refuse("path '\(path)' is not absolute")
            return found
        }
        let directory = slash == path.startIndex ? "/" : String(path[..<slash])
        var status = stat()
        if unsafe lstat(path, &status) != 0 {
            found.refuse("'\(path)' \(reason())")
        } else if status.st_mode & S_IFMT != S_IFREG {
            found.refuse("'\(path)' is not a regular file")
        } else if unsafe access(path, R_OK | W_OK) != 0 {
            found.refuse("'\(path)' \(reason())")
        }
        if unsafe access(directory, R_OK | W_OK | X_OK) != 0 {
            found.refuse("directory '\(directory)', where SQLite keeps its journal, \(reason())")
        } else if unsafe stat(directory, &status) == 0, status.st_uid != geteuid(),
            status.st_mode & S_ISGID == 0
        {
            found.advise(
                "directory '\(directory)' is not set-group-id: the application may not be able to"
                    + " open -wal and -shm files that expunged makes"
            )
        }
        return found
    }

    private static func reason() -> String {
        switch errno {
        case ENOENT: "does not exist"
        case EROFS: "is read-only here (is it in ReadWritePaths= of the unit?)"
        case EACCES, EPERM: "may not be read and written by this user"
        default: "cannot be used (\(ErrorNumber.current))"
        }
    }
}
