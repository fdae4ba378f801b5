import CPostgres
import Lifecycle

extension SQLError {
    /// Classifies an SQLSTATE (PostgreSQL 15, appendix A).
    init(sqlState: String, target: TargetName) {
        let kind: Kind =
            switch (sqlState, sqlState.prefix(2)) {
            case ("", _), (_, "08"), ("57P01", _), ("57P02", _), ("57P05", _): .lost
            case ("57P03", _): .unreachable
            case ("57014", _): .timeout
            case ("55P03", _), ("55006", _), (_, "40"), (_, "53"): .locked
            case ("25006", _): .readOnly
            case (_, "23"), (_, "P0"), (_, "27"), (_, "44"): .constraint
            case ("42501", _): .privilege
            case ("42P01", _), ("42703", _), ("3F000", _): .schemaChanged
            case (_, "28"), ("3D000", _): .refused
            default: .failed
            }
        self.init(kind, target: target, code: .state(sqlState))
    }

    /// Reads what the server answered instead of a result: codes and names of the schema, never a
    /// message, which quotes values (PostgreSQL 15, 34.3.1 and 55.8).
    init(_ result: OpaquePointer, target: TargetName) {
        func field(_ letter: Unicode.Scalar) -> String? {
            let text = unsafe PQresultErrorField(result, Int32(letter.value))
            return unsafe text.map { unsafe String(cString: $0) }
        }
        let state = field("C") ?? ""
        let function = field("W").flatMap(Self.function)
        let known = SQLError(sqlState: state, target: target)
        // What a function of the application raises, or may not do, is no wrong set-up of ours.
        let isInside =
            known.kind == .failed && function != nil
            || known.kind == .privilege && field("W")?.isEmpty == false
        self = isInside ? SQLError(.constraint, target: target, code: .state(state)) : known
        guard kind == .constraint else { return }
        let (constraint, table) = (field("n"), field("t"))
        switch state {
        case "23503": obstacle = Obstacle(.foreignKey, at: table, name: constraint)
        case "42501": obstacle = Obstacle(.permission, name: function)
        default:
            obstacle =
                state.hasPrefix("23") && (constraint ?? table) != nil
                ? Obstacle(.constraint, at: table, name: constraint ?? field("c"))
                : Obstacle(.trigger, at: table, name: function)
        }
    }

    /// The function of the innermost line of a context, such as
    /// `PL/pgSQL function app.guard() line 3 at RAISE`; other lines quote statements.
    private static func function(_ context: String) -> String? {
        let start = "PL/pgSQL function "
        guard let line = context.split(separator: "\n").first, line.hasPrefix(start) else {
            return nil
        }
        return line.dropFirst(start.count).split(separator: "(").first.map(String.init)
    }
}
