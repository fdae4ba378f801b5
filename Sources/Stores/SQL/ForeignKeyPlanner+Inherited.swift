import Lifecycle

/// What protects a row because it protects the rows that it hangs on.
extension ForeignKeyPlanner {
    /// Expressions for the rows of a rule themselves: newer than the cutoff, or held.
    func protections(_ rule: TableRule, in table: TableShape) -> [String] {
        newer(rule, in: table) + held(in: table)
    }

    func newer(_ rule: TableRule, in table: TableShape) -> [String] {
        rule.creation.map { [Dialect.isNewer($0, in: table)] } ?? []
    }

    /// True for a row that hangs on a protected one; `nil` where none is.
    func inherited(
        by rule: TableRule,
        in table: TableShape,
        where own: (TableRule, TableShape) -> [String],
        _ depth: Int = 1
    ) -> String? {
        guard let via = rule.via, depth < Self.depthMax else { return nil }
        let parent = shape(via.table).named("up\(depth)")
        let found = followed(via.table).compactMap { followed -> String? in
            // What a cascade takes stays with whatever protects the row above.
            let above =
                rule.action.parent == nil
                ? inherited(by: followed, in: parent, where: own, depth + 1) : nil
            let kinds = own(followed, parent) + [above].compactMap(\.self)
            guard !kinds.isEmpty else { return nil }
            return "\(match(followed, in: parent, depth + 1)) AND \(anyOf(kinds))"
        }
        guard !found.isEmpty else { return nil }
        if let isInside = isInside(rule, table, parent) {
            return exists(parent, where: "\(anyOf(found)) AND \(isInside)")
        }
        let join = join(rule, table, parent)
        let rows =
            "SELECT \(join.parents) FROM \(shape(via.table).reference) AS \(parent.reference)"
            + " WHERE \(anyOf(found))"
        return "coalesce(\(join.isIn(rows)), 1 = 0)"
    }

    /// True for a row of a tree below which a protected row stays; `nil` where none can.
    ///
    /// Goes down from the user's rows, and up again from those that stay.
    func keptBelow(
        _ rule: TableRule,
        in table: TableShape,
        _ own: (TableRule, TableShape) -> [String]
    ) -> String? {
        let name = table.name
        guard
            let branch = rules(of: name).first(where: { $0.via?.table == name && $0.action.deletes }
            )
        else { return nil }
        let row = shape(name).named("node")
        let kinds = rules(of: name).flatMap { own($0, row) }
        let starts = followed(name).map { match($0, in: row) }
        guard !kinds.isEmpty, !starts.isEmpty else { return nil }
        let names = joined(branch)
        let rows = "\(shape(name).reference) AS node"
        let list = { (prefix: String) in
            names.indices.map { prefix + "\($0)" }.joined(separator: ", ")
        }
        let ids = names.map { Dialect.column($0.parent, of: "node") }
        let ups = names.map { Dialect.column($0.child, of: "node") }
        let isSame = { (columns: [String], table: String) in
            columns.indices.map { "\(columns[$0]) = \(table).k\($0)" }.joined(separator: " AND ")
        }
        let places = names.map { Dialect.column($0.parent, of: table.reference) }
        let parent = places.count == 1 ? places[0] : "(" + places.joined(separator: ", ") + ")"
        let known = names.indices.map { "k\($0) IS NOT NULL" }.joined(separator: " AND ")
        return """
            coalesce(\(parent) IN (WITH RECURSIVE below(\(list("k"))) AS (\
            SELECT \(ids.joined(separator: ", ")) FROM \(rows) WHERE \(anyOf(starts)) UNION \
            SELECT \(ids.joined(separator: ", ")) FROM below JOIN \(rows) ON \
            \(isSame(ups, "below"))), above(\(list("k"))) AS (\
            SELECT \(ups.joined(separator: ", ")) FROM below JOIN \(rows) ON \
            \(isSame(ids, "below")) WHERE \(anyOf(kinds)) UNION \
            SELECT \(ups.joined(separator: ", ")) FROM above JOIN \(rows) ON \
            \(isSame(ids, "above"))) SELECT \(list("k")) FROM above WHERE \(known)), 1 = 0)
            """
    }
}
