import Control
import Lifecycle
import Testing

extension ControlSuite {
    @Suite struct RouteTests {
        @Test func `every operation has exactly one route and the rows are sorted`() {
            let operations = RouteTable.routes.map(\.operation.rawValue)
            #expect(operations.sorted() == Operation.allCases.map(\.rawValue).sorted())
            let keys = RouteTable.routes.map { "\($0.pattern) \($0.method.rawValue)" }
            #expect(keys == keys.sorted())
            for route in RouteTable.routes {
                #expect(route.problems.map(\.rawValue) == route.problems.map(\.rawValue).sorted())
            }
        }

        @Test(arguments: RouteTable.routes.map(\.operation))
        func `a route finds itself with decoded parameters`(_ operation: Operation) throws {
            let route = RouteTable.route(operation)
            let values = route.parameterNames.map { "a/ü %\($0)?#" }
            let match = try Router().match(
                method: route.method.rawValue,
                path: route.path(values)[...]
            )
            #expect(match.route.operation == operation)
            #expect(match.values == values)
        }

        @Test(arguments: [
            ("GET", "/v1/nothing", ControlProblem.Code.routeNotFound),
            ("GET", "/v1/requests/", .routeNotFound), ("PATCH", "/v1/requests", .methodNotAllowed),
            ("GET", "/v1//requests", .routeNotFound), ("GET", "/V1/requests", .routeNotFound),
            ("GET", "/v1/users/%zz/identities", .malformedUserID),
            ("GET", "/v1/users/%ff/identities", .malformedUserID),
            ("GET", "/v1/users/a+b/identities", .malformedUserID),
            ("GET", "/v1/users/%4/identities", .malformedUserID),
        ])
        func `a path that is not ours is refused`(
            method: String,
            path: String,
            code: ControlProblem.Code
        ) {
            let problem = #expect(throws: ControlProblem.self) {
                try Router().match(method: method, path: path[...])
            }
            #expect(problem?.code == code)
        }

        @Test func `every code has a title and a status that the server can name`() {
            for code in ControlProblem.Code.allCases {
                #expect(!code.title.isEmpty)
                #expect((400...599).contains(code.status))
            }
            for reason in RejectReason.allCases where reason != .malformedRow {
                #expect(ControlProblem(rejection: reason).code.rawValue == reason.rawValue)
            }
            for reason in CredentialRejectReason.allCases where reason != .malformedRow {
                #expect(ControlProblem(rejection: reason).code.rawValue == reason.rawValue)
            }
        }
    }
}

/// One suite, one test at a time: the tests share two cores with the servers that they start.
@Suite(.serialized) struct ControlSuite {}
