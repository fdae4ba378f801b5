/// Where a section is in the file.
package struct SectionPlace: Sendable {
    package let scope: SettingScope
    let path: [KeyStep]
    /// Such as `provider.apple`; by number, such as `provider[0]`, while it has no usable name.
    package let label: String

    var groupName: String {
        let names = path.compactMap { step in
            if case .key(let name) = step { name } else { nil }
        }
        return names.last ?? scope.rawValue
    }

    func path(of name: String) -> [KeyStep] { path + [.key(name)] }

    func key(_ name: String) -> String { "\(label).\(name)" }
}
