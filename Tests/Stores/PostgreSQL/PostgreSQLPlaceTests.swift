import Lifecycle
import PostgreSQL
import Testing

@testable import Stores

struct PostgreSQLPlaceTests {
    private static func options(_ database: String?) throws -> [(key: String, value: String)] {
        var plan = PostgreSQLTargetPlan(
            name: TargetName("t"),
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

    @Test func `one name of a database is one place, whoever logs in at whichever server`() throws {
        func place(_ text: String, _ database: String? = nil) -> PostgreSQLPlace? {
            PostgreSQLPlace(Secret(text), database: database)
        }
        let live = try #require(place("host=h port=5432 dbname=app user=a"))
        #expect(place("postgresql://b@h:5432/app").map(live.isDatabase) == true)
        #expect(place("host=h port=5432 dbname=x", "app").map(live.isDatabase) == true)
        #expect(place("host=h port=5432 dbname=app", "copy").map(live.isDatabase) == false)
        // The same server by its other names, for all that is known.
        for server in ["host=g port=5432", "host=h", "hostaddr=10.0.0.1", "host=/run/postgresql"] {
            #expect(place("\(server) dbname=app").map(live.isDatabase) == true)
        }
        #expect(place("host=h user=a") == nil)
        #expect(place("not a connection string") == nil)
    }
}
