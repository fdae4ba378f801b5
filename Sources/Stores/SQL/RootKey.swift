internal import Lifecycle

/// What the columns of a rule hold for one user.
struct RootKey: Hashable, Sendable {
    /// Of the rule's column.
    let user: BoundValue
    /// Of the other columns of a template, in its order.
    var parts: [BoundValue] = []
}

extension TableRule {
    /// The columns of the template besides the rule's own, as rules of their own.
    var otherParts: [TableRule] {
        (idTemplate?.parts ?? []).filter { !isOwn($0) }.map { part in
            TableRule(
                table: table,
                column: part.column,
                idType: part.idType ?? .text,
                action: .keep
            )
        }
    }

    func isOwn(_ part: IDTemplate.Part) -> Bool {
        part.column.lowercased() == column.lowercased()
    }

    /// A user id as the columns hold it; `nil` when no row can hold it.
    func key(for user: UserID) -> RootKey? {
        guard let idTemplate else { return idType.key(for: user).map { RootKey(user: $0) } }
        guard let values = idTemplate.split(user) else { return nil }
        var (own, parts): (BoundValue?, [BoundValue]) = (nil, [])
        for (part, value) in zip(idTemplate.parts, values) {
            let type = isOwn(part) ? idType : part.idType ?? .text
            guard let key = type.key(for: value) else { return nil }
            if isOwn(part) { own = key } else { parts.append(key) }
        }
        return own.map { RootKey(user: $0, parts: parts) }
    }

    /// A user id as it was submitted, with the parts that the columns hold.
    func submitted(_ user: UserID) -> RootKey? {
        let own = BoundValue.text(Array(user.exposeText().utf8))
        guard let idTemplate else { return RootKey(user: own) }
        guard let key = key(for: user), let values = idTemplate.split(user) else { return nil }
        let place = idTemplate.parts.firstIndex(where: isOwn) ?? 0
        return RootKey(user: .text(Array(values[place].exposeText().utf8)), parts: key.parts)
    }

    /// Whether rows may well be this user's though no row can hold the id as it is written.
    ///
    /// An id that does not follow the template may be meant for it: nobody may say that it has no
    /// rows.
    func isNonCanonical(_ user: UserID) -> Bool {
        guard let idTemplate else { return idType.isNonCanonical(user) }
        return key(for: user) == nil || idTemplate.split(user) == nil
    }

    /// For statements that are only planned.
    var sample: RootKey {
        RootKey(user: idType.sample, parts: otherParts.map(\.idType.sample))
    }
}
