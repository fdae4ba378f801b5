import Encoding
internal import Engine
internal import Lifecycle

extension IDType {
    /// The ids that the values of a column are.
    ///
    /// - Parameter values: One more than ``Lifecycle/Limits/keysMax`` is too many.
    /// - Returns: A failure when any value is no id: what it stands for would stay.
    func ids(from values: [BoundValue?]) -> KeysAnswer {
        guard values.count <= Limits.keysMax else { return .failure(.keys(.tooMany)) }
        let ids = values.compactMap { $0.flatMap(id) }
        return ids.count == values.count ? .found(ids) : .failure(.keys(.unfit))
    }

    /// Its one spelling, which ``key(for:)`` reads back.
    private func id(_ value: BoundValue) -> UserID? {
        switch (self, value) {
        case (.text, .text(let bytes)), (.uuid, .text(let bytes)), (.mixed, .text(let bytes)):
            String(validating: bytes, as: UTF8.self).flatMap { UserID($0) }
        case (.integer, .integer(let number)), (.mixed, .integer(let number)): UserID("\(number)")
        case (.blob, .blob(let bytes)): UserID(Hexadecimal.text(bytes))
        case (.text, _), (.integer, _), (.blob, _), (.uuid, _), (.mixed, _): nil
        }
    }
}
