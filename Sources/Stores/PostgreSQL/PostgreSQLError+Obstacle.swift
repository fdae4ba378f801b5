internal import CPostgres
internal import Lifecycle

extension PostgreSQLError {
    /// Reads what the server answered instead of a result: codes and names of the schema, never a
    /// message, which quotes values (PostgreSQL 15, 34.3.1 and 55.8).
    init(_ result: OpaquePointer, target: TargetName) {
        func field(_ letter: Unicode.Scalar) -> String? {
            let text = unsafe PQresultErrorField(result, Int32(letter.value))
            return unsafe text.map { unsafe String(cString: $0) }
        }
        let state = field("C") ?? ""
        let function = field("W").flatMap(Self.function)
        let known = PostgreSQLError(sqlState: state, target: target)
        // What a function of the application raises, or may not do, is no wrong set-up of ours.
        let isInside =
            known.kind == .failed && function != nil
            || known.kind == .privilege && field("W")?.isEmpty == false
        self = isInside ? PostgreSQLError(.constraint, target: target, sqlState: state) : known
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
