import Control
import Lifecycle
import Testing

extension ControlSuite {
    /// Every command once, against a server in this process.
    @Suite struct CommandSessionTests {
        /// One scripted session: arguments, input, what the backend is asked, what is said.
        struct Session: Sendable, CustomTestStringConvertible {
            var line: String
            var input = ""
            var operation: Operation
            var facts = ""
            var out: String
            var code: Int32 = 0

            var testDescription: String { line }
        }

        private static let id = Samples.requestID.description
        private static let identity = Samples.identityID.description
        private static let requestTable = """
            ID                  KIND    USER   STATE     AGE  CREATED
            \(id.prefix(18))  delete  alice  accepted

            """
        private static let messageTable = """
            ID                       SUBSCRIBER  TYPE               STATE    TRIES  LAST
            msg_12_0123456789abcdef  app         request.completed  waiting  2      503 refused

            """

        private static let holdTable = """
            NAME    STORE   ROWS                                       SINCE                     \
            BY UID  REASON
            case-7  app-db  orders where status=disputed, status=open  2026-11-21T08:00:00\
            .000Z  1000    case 7

            """

        private static let holdList = """
            NAME      STORE   ROWS                                       SINCE                     \
            BY UID  REASON
            case-7    app-db  orders where status=disputed, status=open  2026-11-21T08:00:00\
            .000Z  1000    case 7
            user.AAE  -       all of one user                            2026-11-21T08:00:00\
            .000Z  1001    -
            release with: expungectl release --hold NAME

            """

        private static let guardLine = """
            closed, 1000 of 1000 in the last hour, 3 waiting, override for 10 until \
            2026-11-21T08:00:00.000Z
            """

        private static let replayReport = """
            state       incomplete
            since       2026-11-21T08:00:00.000Z
            tombstones  7
            reopened    2
            STORE   FOUND  ERASED  ROWS  LEFT  CAUSE
            app-db  3      2       40    1     remaining_rows: why

            """
        private static let ledgerReport = """
            state       sound
            key         expunged-01234567+89abcdef+AQ==
            entries     12
            covered     10
            checkpoint  2026-11-21T08:00:00.000Z

            """
        private static let vaultReport = """
            vault     open
            wraps     400 of 16777216
            rotation  running, 400 wrapped anew, 1 unreadable, vault_key_exhausted
            KEY               STATE    USERS
            0123456789abcdef  active   400
            fedcba9876543210  retired  0 (unused)

            """

        private static let masks = "name: null, zip: truncate"

        private static func planReport(_ facts: [String]) -> String {
            facts.joined(separator: "\n") + """


                REVOKE AT  CLIENT           IDENTITY
                apple      com.example.app  \(identity)

                STORE   ITEM    ACTION     COUNT       NEWER  UNDATED         KEPT BECAUSE  COLUMNS
                app-db  posts   delete     12 or more  0      2               -             -
                app-db  bills   keep       3           1      0               tax           -
                app-db  likes   delete     4           0      all, no cutoff  -             -
                app-db  orders  anonymize  2           0      0               tax           \(masks)
                cache   -       -          unknown     -      -               -             -

                STORE   RULE                                SETTINGS
                app-db  table posts (author_id)             action = "delete"
                app-db  table shop.Orders (buyer)           action = "anonymize"
                app-db  table shop.Orders (buyer) set name  strategy = "null"
                app-db  table shop.Orders (buyer) set zip   strategy = "truncate", length = 2

                """
        }

        static let sessions: [Session] = [
            Session(
                line: "delete-account alice --idempotency-key k --option grace_s=60",
                operation: .submitRequest,
                facts: "delete_account alice k",
                out: id + "\n"
            ),
            Session(
                line: "revoke-tokens bob --provider apple --idempotency-key k",
                operation: .submitRequest,
                facts: "revoke_tokens bob k",
                out: id + "\n"
            ),
            Session(
                line: "delete-account - --idempotency-key k",
                input: "carol\n",
                operation: .submitRequest,
                facts: "delete_account carol k",
                out: id + "\n"
            ),
            Session(
                line: "hold --user -",
                input: "alice",
                operation: .holdUser,
                facts: "alice",
                out: "held as user.AAE, 1 open requests stopped\n"
            ),
            Session(
                line: "list --state parked --user alice --limit 7",
                operation: .listRequests,
                facts: "limit=7&state=parked&user_id=alice",
                out: requestTable
            ),
            Session(line: "cancel \(id)", operation: .cancelRequest, out: requestTable),
            Session(
                line: "approve \(id) --plan 0123456789abcdef",
                operation: .approveRequest,
                facts: "0123456789abcdef",
                out: requestTable
            ),
            Session(
                line: "plan alice",
                operation: .makePlan,
                facts: "alice",
                out: planReport(["plan      0123456789abcdef", "approval  not_required"])
            ),
            Session(
                line: "plan --request \(id)",
                operation: .showPlan,
                facts: id,
                out: planReport([
                    "plan      0123456789abcdef", "request   \(id)",
                    "approval  approved by login uid 1001 at 2026-11-21T08:00:00.000Z"
                        + ", first by login uid 1002",
                ]) + """

                    CHANGE   WHERE   ITEM                     ACTION  WAS              NOW
                    changed  app-db  table posts (author_id)  -       action = "keep"  \
                    action = "delete"
                    changed  app-db  posts                    delete  11               12

                    """
            ),
            Session(line: "retry \(id)", operation: .retryRequest, out: requestTable),
            Session(
                line: "hold \(id) --reason case-7",
                operation: .holdRequest,
                facts: "case-7",
                out: requestTable
            ),
            Session(
                line: "hold --user alice",
                operation: .holdUser,
                facts: "alice",
                out: "held as user.AAE, 1 open requests stopped\n"
            ),
            Session(line: "release \(id)", operation: .releaseRequest, out: requestTable),
            Session(
                line: "release --user alice",
                operation: .releaseUser,
                facts: "alice",
                out: "released\n"
            ),
            Session(
                line: "abandon \(id) --reason case-7 --provider apple",
                operation: .abandonRequest,
                facts: "case-7 apple",
                out: requestTable
            ),
            Session(
                line: "reauthorize \(id) --provider apple",
                input: "token\n",
                operation: .reauthorizeRequest,
                facts: "apple 5 0",
                out: requestTable.replacing("accepted", with: "revoking")
            ),
            Session(
                line: "receipt \(id)",
                operation: .showReceipt,
                out: "{\n  \"request_id\": \"\(id)\",\n  \"rows\": 16\n}\n"
            ),
            Session(
                line: "store-credential alice apple --kind refresh_token",
                input: "secret\n",
                operation: .putCredential,
                facts: "alice apple refresh_token 6",
                out: "\(identity)  pending\n"
            ),
            Session(
                line: "notification github --header X-GitHub-Event:ping --header x-y:z",
                input: "{\"a\":1}\n",
                operation: .takeNotification,
                facts: "github {\"a\":1}\n x-github-event=ping",
                out: """
                    answer  400
                    type    application/json
                    body    {}
                    effect  refused (bad_signature)
                    request \(id)

                    """,
                code: 1
            ),
            Session(
                line: "notification-status meta c0de",
                operation: .notificationStatus,
                facts: "meta c0de",
                out: "completed\nYour account and its data were deleted.\n"
            ),
            Session(
                line: "forget alice \(identity)",
                operation: .forgetIdentity,
                facts: "alice",
                out: "forgotten\n"
            ),
            Session(line: "intake pause", operation: .pauseIntake, out: "intake paused\n"),
            Session(line: "intake resume", operation: .resumeIntake, out: "intake open\n"),
            Session(line: "guard override", operation: .overrideGuard, out: guardLine + "\n"),
            Session(
                line: "guard override --count 7",
                operation: .overrideGuard,
                facts: "7",
                out: guardLine + "\n"
            ),
            Session(
                line: "hold --store app-db --reason case-7",
                operation: .holdStore,
                facts: "app-db {\"store\":\"app-db\",\"reason\":\"case-7\"}",
                out: holdTable
            ),
            Session(
                line: "hold --store app-db --table orders --where status=disputed"
                    + " --where status=open --name case-7",
                operation: .holdStore,
                facts: "case-7 {\"store\":\"app-db\",\"table\":\"orders\","
                    + "\"where\":[\"status=disputed\",\"status=open\"]}",
                out: holdTable
            ),
            Session(line: "holds", operation: .listHolds, out: holdList),
            Session(line: "messages", operation: .listMessages, out: messageTable),
            Session(
                line: "messages list --waiting --before msg_12_0123456789abcdef",
                operation: .listMessages,
                facts: "cursor=msg_12_0123456789abcdef&state=waiting",
                out: messageTable
            ),
            Session(
                line: "messages redeliver msg_12_0123456789abcdef",
                operation: .redeliverMessage,
                facts: "msg_12_0123456789abcdef",
                out: messageTable
            ),
            Session(
                line: "release --hold case-7",
                operation: .liftHold,
                facts: "case-7",
                out: "released\n"
            ),
            Session(
                line: "replay --since 2026-11-21T08:00:00Z --store app-db --drill",
                operation: .startReplay,
                facts: "2026-11-21T08:00:00.000Z app-db true",
                out: replayReport,
                code: 1
            ),
            Session(line: "replay status", operation: .showReplay, out: replayReport),
            Session(line: "ledger", operation: .showLedger, out: ledgerReport),
            Session(
                line: "ledger verify",
                operation: .verifyLedger,
                out: """
                    state        damaged
                    key          expunged-01234567+89abcdef+AQ==
                    entries      9
                    covered      0
                    checkpoints  2
                    findings     1
                    FINDING         AT
                    missing_leaves  10

                    """,
                code: 13
            ),
            Session(
                line: "ledger accept-rollback",
                operation: .acceptRollback,
                out: ledgerReport
            ),
            Session(
                line: "hosts",
                operation: .listHosts,
                out: """
                    HOST      ROLE     PARTITIONS  RENEWED
                    a (this)  steward  32          2026-11-21T08:00:00.000Z
                    b         worker   32          2026-11-21T08:00:00.000Z

                    """
            ),
            Session(
                line: "config",
                operation: .showSettings,
                facts: "all",
                out: "# needs a restart: vault.key_credential\n" + Samples.settings.configuration
            ),
            Session(
                line: "config --non-default",
                operation: .showSettings,
                facts: "non_default",
                out: "# needs a restart: vault.key_credential\n" + Samples.settings.configuration
            ),
            Session(line: "vault", operation: .showVault, out: vaultReport),
            Session(line: "vault rotate", operation: .rotateVault, out: vaultReport),
            Session(
                line: "reload",
                operation: .reloadConfiguration,
                out: """
                    reloaded at 2026-11-21T08:00:00.000Z
                    changed: requests.deadline
                    needs a restart: vault

                    """
            ),
            Session(
                line: "metrics",
                operation: .metrics,
                out: "# TYPE expunged_requests gauge\nexpunged_requests 1\n"
            ),
            Session(
                line: "identities alice",
                operation: .listIdentities,
                facts: "alice",
                out: """
                    IDENTITY                              PROVIDER  CLIENT           STATE  VERDICT
                    \(identity)  apple     com.example.app  live   proven

                    """
            ),
            Session(
                line: "status",
                operation: .status,
                out: """
                    version      0.1.0
                    state        running
                    started      2026-11-21T08:00:00.000Z
                    intake       open
                    vault        open
                    guard        \(guardLine)
                    requests     3 parked, 12 revoking
                    parked       3 on_hold
                    oldest open  2026-11-21T08:00:00.000Z  \(id)
                    alarms       configuration_refused
                    reload       refused at 2026-11-21T08:00:00.000Z
                    error: expunged.toml:3: cannot use requests.dedline (unknown_key)

                    """
            ),
        ]

        @Test(arguments: sessions)
        func `a command asks the daemon once and prints the answer`(
            _ session: Session
        )
            async throws
        {
            let backend = FakeBackend(expecting: [session.operation])
            try await TestServer.run(backend) { server in
                let words = session.line.split(separator: " ").map(String.init)
                let outcome = try await ProgramRun.run(
                    words,
                    socket: server.controlPath,
                    input: session.input
                )
                let more =
                    session.operation == .listRequests ? "more: expungectl list --cursor c2\n" : ""
                var shown = outcome
                // Ages and local times of a request depend on the day.
                shown.out.replace(/(accepted|revoking)  \d+[smhd] +\S.*/) { $0.output.1 }
                shown.out.replace(/AGE +CREATED/, with: "AGE  CREATED")
                #expect(
                    shown == ProgramRun.Outcome(code: session.code, out: session.out, err: more)
                )
                #expect(backend.calls.map(\.operation) == [session.operation])
                #expect(backend.calls.map(\.facts) == [session.facts])
            }
        }
    }
}
