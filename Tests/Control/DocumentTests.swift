import Control
import Encoding
import FoundationEssentials
import Lifecycle
import Testing

/// Files of the repository, found from this file's own path.
enum Repository {
    static let root = #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }

    static func read(_ path: String) throws -> String {
        let data = try Data(contentsOf: URL(filePath: root + "/" + path))
        return String(decoding: data, as: UTF8.self)
    }

    /// Compares a file with what it should be; `UPDATE_GOLDEN=1` rewrites it.
    static func expect(_ path: String, is text: String) throws {
        if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] == "1" {
            try Data(text.utf8).write(to: URL(filePath: root + "/" + path))
        }
        #expect(try read(path) == text, "\(path) is stale: run again with UPDATE_GOLDEN=1")
    }
}

extension ControlSuite {
    @Suite struct DocumentTests {
        @Test func `docs/openapi.json is the one that the route table makes`() throws {
            try Repository.expect("docs/openapi.json", is: OpenAPIDocument.value.indentedText)
        }

        @Test func `every object that the document refers to is in it`() throws {
            let text = OpenAPIDocument.value.compactText
            for part in text.split(separator: "#/components/schemas/").dropFirst() {
                let name = part.prefix { $0 != "\"" }
                #expect(OpenAPIDocument.types.contains { $0.schemaName == name }, "\(name)")
            }
        }

        @Test func `the guide says what to do for each reason to wait and each obstacle`() throws {
            let page = try Repository.read("docs/guides/blocked-requests.md")
            let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `") }
            let names = ParkReason.allCases.map(\.rawValue) + Obstacle.Kind.allCases.map(\.rawValue)
            #expect(names.count > 15)
            for name in names {
                let cells = rows.map { $0.split(separator: "|") }
                    .filter { $0.first?.contains("`\(name)`") == true }
                #expect(cells.count == 1 && cells[0].count > 1, "\(name)")
            }
        }

        @Test func `api(7) lists the routes of the table`() throws {
            let page = try Repository.read("docs/man/expunged-api.7")
            let lines = page.split(separator: "\n").filter { $0.hasPrefix(".B \"") }
            let listed = lines.map { String($0.dropFirst(4).dropLast()) }
            #expect(
                listed
                    == RouteTable.routes.map {
                        "\($0.method.rawValue) \($0.pattern) (\($0.role.rawValue)"
                            + ($0.isViewable ? ", viewer)" : ")")
                    }
            )
            for code in ControlProblem.Code.allCases {
                #expect(page.contains("\\fB\(code.rawValue)\\fP\n"), "\(code.rawValue)")
            }
        }
    }
}
