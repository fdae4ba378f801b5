import Lifecycle
import Settings

/// Reads sampled rows, one statement of each table, and remembers whose values they hold.
///
/// It says which statement is next and takes the rows; how they are read is the store's.
struct SampleRun<Dialect: SQLDialect>: Sendable {
    private enum Step {
        case users
        /// The numbers of Django's content types.
        case contentTypes(String)
        /// The number of ``SuggestionUser/beside``.
        case beside(Int)
        case table(TableShape)
    }

    let user: SuggestionUser
    let schema: SQLSchema
    /// What says with whom rows go; `nil` for the rules that are suggested first.
    private let rules: [TableRule]?
    private let names: TableNames
    private var steps: [Step]
    private var matcher = ValueMatcher([])
    /// Tables by the number of a content type.
    private var contentTypes: [String: String] = [:]
    /// What says with whom rows go, by table.
    private var owners: [String: [RowOwner]]?
    private var samples = SchemaSample()

    init(_ schema: SQLSchema, _ user: SuggestionUser, _ rules: [TableRule]?) {
        (self.schema, self.user, self.rules) = (schema, user, rules)
        names = TableNames(schema)
        let tables = schema.tables.filter { $0.isOwn && $0.holdsRows && $0.canSelect }
        let types = tables.first { Set(Self.contentTypes).isSubset(of: $0.columns.map(\.name)) }
        steps = tables.filter { $0.name != user.table }.map { .table($0) }
        if let own = schema.table(user.table) { steps.insert(.table(own), at: 0) }
        if let types { steps.insert(.contentTypes(types.name), at: 0) }
        steps.insert(contentsOf: user.beside.indices.map { Step.beside($0) }, at: 0)
        steps.insert(.users, at: 0)
    }

    /// The next statement; `nil` at the end.
    var next: String? {
        switch steps.first {
        case nil: nil
        case .users: sql(user.columns + user.keys, of: user.table)
        case .contentTypes(let table): sql(Self.contentTypes, of: table)
        case .beside(let number):
            sql([user.beside[number].id, user.beside[number].value], of: user.beside[number].table)
        case .table(let table): sql(Self.columns(of: table), table, rows: SuggestLimits.rows)
        }
    }

    mutating func take(_ rows: [[BoundValue?]]) {
        switch steps.removeFirst() {
        case .users:
            matcher = ValueMatcher(rows, keys: user.keys.count)
            (samples.userCount, samples.idType) = (matcher.userCount, matcher.idType)
        case .beside(let number):
            let isName = user.beside[number].table == user.table
            matcher.add(rows, as: user.columns.count + number, isName: isName)
        case .contentTypes: note(contentTypes: rows)
        case .table(let table): samples.tables[table.name] = sample(rows, of: table)
        }
        (samples.distinct, samples.sure) = (matcher.distinct, matcher.sure)
        findOwners()
    }

    /// Leaves out the step whose statement failed, and notes its table.
    ///
    /// - Returns: False where the others cannot be judged without it.
    mutating func skip(after error: SQLError) -> Bool {
        guard error.leavesOthers, let step = steps.first else { return false }
        let reason = "its values were not looked for elsewhere: \(error.cause)"
        switch step {
        case .users: return false
        case .contentTypes(let table): samples.unread[table] = reason
        case .beside(let number): samples.unread[user.beside[number].table] = reason
        case .table(let table): noteUnread(table, error.cause)
        }
        steps.removeFirst()
        findOwners()
        return true
    }

    private mutating func noteUnread(_ table: TableShape, _ cause: String) {
        guard samples.tables[table.name] == nil else { return }
        samples.unread[table.name] = "only names were looked at: \(cause)"
    }

    /// Goes on with the tables of which other tables say with whom rows go, once all are read.
    private mutating func findOwners() {
        guard steps.isEmpty, owners == nil else { return }
        let rules = self.rules ?? suggested
        var planner = ForeignKeyPlanner<Dialect>(schema, rules: rules, holds: [])
        planner.count(cascadesFrom: rules.filter { $0.action == .delete })
        var all: [String: [RowOwner]] = [:]
        for (name, sample) in samples.tables.sorted(by: { $0.key < $1.key }) {
            guard let table = schema.table(name) else { continue }
            let own = planner.rules(of: name)
            // Rows with owners that are kept below those of a user are not this user's.
            let isOwned = own.contains { $0.via == nil }
            let found = own.filter { !isOwned || $0.action != .keep || $0.via == nil }
                .flatMap { planner.owners($0, in: table, user) }
            all[name] = found
            for owner in found where owner.column != nil {
                samples.tables[name]?.add(owner, sample.values(of: owner.column ?? ""))
            }
            let isDone = sample.columns.allSatisfy { samples.tables[name]?.goes($0) ?? true }
            if !isDone, found.contains(where: { $0.column == nil }) { steps.append(.table(table)) }
        }
        owners = all
    }

    private var suggested: [TableRule] {
        RuleSuggester(referring: schema, user, samples).rules.values.joined().map(\.rule)
    }

    /// What was read: at the end, or when there is no more time.
    mutating func end() -> SchemaSample {
        for case .table(let table) in steps { noteUnread(table, "there was no time to read it") }
        steps = []
        findOwners()
        return samples
    }

    // MARK: Statements

    private func sql(_ names: [String], of table: String) -> String? {
        schema.table(table).map { shape in
            let columns = names.compactMap { shape.column($0, ignoringCase: true) }
            return sql(columns, shape, rows: SuggestLimits.users)
        }
    }

    private func sql(_ columns: [ColumnShape], _ table: TableShape, rows: Int) -> String {
        let others = (owners?[table.name] ?? []).filter { $0.column == nil }
        let values = columns.map { Self.value($0, in: table) } + others.map(\.sql)
        return """
            SELECT \(values.isEmpty ? "1" : values.joined(separator: ", ")) \
            FROM \(table.reference)\(Dialect.newestFirst(table)) LIMIT \(rows)
            """
    }

    /// The beginning of a value, as a type that both sides know.
    static func value(_ column: ColumnShape, in table: TableShape) -> String {
        let name = Dialect.column(column.name, of: table.reference)
        if column.idTypes == [.integer] { return name }
        if column.idTypes.contains(.mixed) {
            return "substr(\(name), 1, \(SuggestLimits.characters))"
        }
        if column.idTypes.contains(.blob) { return "substr(\(name), 1, \(SuggestLimits.bytes))" }
        return "substr(\(Dialect.text(name)), 1, \(SuggestLimits.characters))"
    }

    /// Those that can hold an id, a document or a name of a type.
    private static func columns(of table: TableShape) -> [ColumnShape] {
        table.columns.filter { !$0.idTypes.isEmpty || $0.units.isEmpty }
    }

    // MARK: Rows

    private func sample(_ rows: [[BoundValue?]], of table: TableShape) -> TableSample {
        let columns = Self.columns(of: table)
        var sample = TableSample(columns: columns.map(\.name))
        let owners = self.owners?[table.name] ?? []
        let width = columns.count + owners.count { $0.column == nil }
        let rows = rows.filter { $0.count == width }
        sample.rows = rows.map { $0.prefix(columns.count).map(matcher.match) }
        var place = columns.count
        for owner in owners {
            let index = place
            if owner.column == nil { place += 1 }
            let own = owner.column.map { sample.values(of: $0) }
            sample.add(owner, own ?? rows.map { matcher.match($0[index]) })
        }
        for (index, column) in columns.enumerated() {
            let values = rows.map { index < $0.count ? $0[index] : nil }
            let texts = Set(values.compactMap { $0.flatMap(ValueMatcher.text) })
            sample.different[column.name] = texts.subtracting(["", "0"]).count
            if let unit = TimeGuess.unit(of: values, column) { sample.units[column.name] = unit }
            for (number, value) in values.enumerated() where number < sample.rows.count {
                note(value, of: column, at: (number, index), &sample)
            }
            note(numbers: values, of: column, in: table, rows, &sample)
            guard table.columns.contains(where: { table.typeColumn(of: $0.name) == column.name })
            else { continue }
            sample.types[column.name] = values.map(typeName)
        }
        return sample
    }

    /// Notes where users' values stand inside a longer one.
    private func note(
        _ value: BoundValue?,
        of column: ColumnShape,
        at place: (row: Int, column: Int),
        _ sample: inout TableSample
    ) {
        sample.mentions[column.name, default: []] += matcher.mentions(in: value).map {
            (row: place.row, value: $0)
        }
        guard case .inside(let values) = sample.rows[place.row][place.column] else { return }
        let found = matcher.places(of: value, in: column)
        let others = values.map(\.column).filter { other in
            !found.contains { $0.value.column == other }
        }
        sample.unnamed[column.name, default: []].formUnion(others)
        for one in found {
            let place = one.inside.map { TableSample.Place(value: one.value.column, inside: $0) }
            if let place, case .json = place.inside {
                sample.members[column.name, default: [:]][place, default: []]
                    .formUnion(one.value.users)
            }
            if let place, Dialect.problem(of: place.inside, column, idType(of: place)) == nil {
                sample.places[column.name, default: [:]][place, default: []]
                    .formUnion(one.value.users)
            } else {
                sample.unnamed[column.name, default: []].insert(one.value.column)
            }
        }
    }

    /// Notes where small numbers may be ids of users; beside types, those of each that names no
    /// other table.
    private func note(
        numbers values: [BoundValue?],
        of column: ColumnShape,
        in table: TableShape,
        _ rows: [[BoundValue?]],
        _ sample: inout TableSample
    ) {
        guard matcher.hasNumbers, user.parts.isEmpty else { return }
        sample.keys[column.name] = zip(values.indices, values).flatMap { row, value in
            matcher.users(numbered: value).map { (row: row, value: $0) }
        }
        guard !column.isPrimaryKey else { return }
        let index = { [columns = sample.columns] (name: String) in columns.firstIndex(of: name) }
        let typeIndex = table.typeColumn(of: column.name).flatMap(index)
        let nameIndex = table.nameColumn(of: column.name).flatMap(index)
        var places: [[String]: [(row: Int, number: Int64)]] = [:]
        for (row, value) in values.enumerated() {
            let type = typeIndex.flatMap { rows[row][$0] }
            guard (typeName(type)?.table ?? user.table) == user.table else { continue }
            let name = nameIndex.flatMap { place in
                rows[row][place].flatMap(ValueMatcher.text)
                    .map { (column: sample.columns[place], text: $0) }
            }
            for (path, number) in matcher.numbers(in: value, of: column, named: name) {
                let place = [path, type.flatMap(ValueMatcher.text) ?? ""]
                places[place, default: []].append((row: row, number: number))
            }
        }
        sample.numbers[column.name] = places.sorted { $0.key[0] < $1.key[0] }
            .compactMap { matcher.numbers($0.value, at: $0.key[0]) }
    }

    /// How a rule about the place compares.
    private func idType(of place: TableSample.Place) -> IDType {
        place.value == 0 && samples.idType == .integer ? .integer : .text
    }

    private func typeName(_ value: BoundValue?) -> TableSample.TypeName? {
        guard let text = value.flatMap(ValueMatcher.text) else { return nil }
        if let table = contentTypes[text], case .integer(let number)? = value {
            return TableSample.TypeName(value: .integer(number), table: table)
        }
        // A configuration holds no other value.
        guard text.unicodeScalars.count <= 1024, TextRule.isPrintable(text) else { return nil }
        let named = names.table(named: text) ?? names.table(ofUsers: user.table, named: text)
        return named.map { TableSample.TypeName(value: .text(text), table: $0) }
    }

    private static var contentTypes: [String] { ["id", "app_label", "model"] }

    private mutating func note(contentTypes rows: [[BoundValue?]]) {
        for row in rows where row.count == Self.contentTypes.count {
            let texts = row.map { $0.flatMap(ValueMatcher.text) ?? "" }
            let name = "\(texts[1])_\(texts[2])".lowercased()
            contentTypes[texts[0]] = schema.tables.first { $0.name.lowercased() == name }?.name
        }
    }
}

/// What sampled rows of a schema hold of users.
struct SchemaSample: Sendable {
    /// By name.
    var tables: [String: TableSample] = [:]
    /// Why a table could not be read, or what others have of it not be found, by its name.
    var unread: [String: String] = [:]
    var userCount = 0
    /// The type of the ids, as they are stored.
    var idType: IDType?
    /// The user's columns of which a value is a user's and nothing else.
    var distinct: Set<Int> = []
    /// Those of which most values cannot be another's by chance.
    var sure: Set<Int> = []

    /// The rows of the user table are more than those that are known.
    var hasMoreUsers: Bool { userCount >= SuggestLimits.users }
}

/// Which unit a column of times has, by its values.
enum TimeGuess {
    static func unit(of values: [BoundValue?], _ column: ColumnShape) -> CreationColumn.Unit? {
        let values = values.compactMap(\.self)
        guard !values.isEmpty else { return nil }
        let fits = { (unit: CreationColumn.Unit) in values.allSatisfy { fit($0, unit) } }
        return [.unixSeconds, .unixMilliseconds, .iso8601].first {
            column.units.contains($0) && fits($0)
        }
    }

    private static func fit(_ value: BoundValue, _ unit: CreationColumn.Unit) -> Bool {
        let milliseconds =
            SQLLimits.unitStart.unixMilliseconds..<SQLLimits.unitHorizon.unixMilliseconds
        switch (unit, value) {
        case (.unixSeconds, .integer(let number)):
            return (milliseconds.lowerBound / 1000..<milliseconds.upperBound / 1000)
                .contains(number)
        case (.unixMilliseconds, .integer(let number)): return milliseconds.contains(number)
        case (.iso8601, .text(let bytes)):
            let text = String(decoding: bytes.prefix(10), as: UTF8.self)
            return text.wholeMatch(of: #/\d{4}-\d\d-\d\d/#) != nil
        default: return false
        }
    }
}
