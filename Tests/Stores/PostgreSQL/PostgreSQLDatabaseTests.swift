import Lifecycle
import PostgreSQL
import Testing

@testable import Stores

struct PostgreSQLDatabaseTests {
    private static func options(_ database: String?) throws -> [(key: String, value: String)] {
        var plan = PostgreSQLStorePlan(
            name: StoreName("t"),
            conninfo: Secret("host=/run/pg dbname=app user=x password=p"),
            schemas: ["public"],
            rules: []
        )
        plan.database = database
        return try plan.completedConninfo.options
    }

    @Test(arguments: ["copy", "host=evil dbname=x", "postgresql://evil/x"])
    func `a copy has another database and nothing else of its own`(_ name: String) throws {
        let (live, copy) = (try Self.options(nil), try Self.options(name))
        #expect(copy.filter { $0.key == "dbname" }.map(\.value) == [name])
        let rest = { (options: [(key: String, value: String)]) in
            Set(options.filter { $0.key != "dbname" }.map { "\($0.key)=\($0.value)" })
        }
        #expect(rest(copy) == rest(live))
        #expect(live.filter { $0.key == "dbname" }.map(\.value) == ["app"])
    }

    @Test func `one name of a database is one place, whoever logs in at whichever server`() {
        func place(_ text: String, _ database: String? = nil) -> String? {
            PostgreSQLKind.databaseName(Secret(text), database)
        }
        #expect(place("host=h port=5432 dbname=app user=a") == "app")
        #expect(place("postgresql://b@h:5432/app") == "app")
        #expect(place("host=h port=5432 dbname=x", "app") == "app")
        #expect(place("host=h port=5432 dbname=app", "copy") == "copy")
        // The same server by its other names, for all that is known.
        for server in ["host=g port=5432", "host=h", "hostaddr=10.0.0.1", "host=/run/postgresql"] {
            #expect(place("\(server) dbname=app") == "app")
        }
        #expect(place("host=h user=a") == nil)
        #expect(place("not a connection string") == nil)
    }
}
