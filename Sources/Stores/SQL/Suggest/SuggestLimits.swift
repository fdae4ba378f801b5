/// Bounds of reading values of rows to find users' data, each with its reason.
enum SuggestLimits {
    /// Users whose values are compared: some MiB, read by one statement.
    static let users = 10_000

    /// Rows read of each table: a chance reference to a user in 1% of the rows is seen.
    static let rows = 300

    /// Characters of a value that are searched: ids stand at the beginning of most documents.
    static let characters = 1000

    /// Bytes of a binary value: an id has 16, a digest 64.
    static let bytes = 64

    /// Longest statement in a SQLite database; a server has its `statement_timeout`.
    static let statement = Duration.seconds(1)

    /// All statements of one call, well within the wait of `stores check`; the tables behind it
    /// are judged by names and keys alone.
    static let total = Duration.seconds(20)

    /// Rows of different users that must have an id at one place inside their values, before a rule
    /// names the place: what only one row has may be a person's.
    static let placeRows = 2

    /// Columns of the user table that identify a user besides the id.
    static let values = 8

    /// Chains of one rule that are followed to the user with whom a row goes.
    static let owners = 8

    /// A value this long is a user's and nothing else: shorter ones occur by chance.
    static let distinctLength = 6

    /// The same of digits alone.
    static let distinctDigits = 7

    /// A text this long with a digit or a mark is of no vocabulary.
    static let sureLength = 16

    /// Different users' words, in half of all rows or more, that are not there by chance: a status
    /// such as `active` may be one user's name, in every row.
    static let sureUsers = 10

    /// One of so many rows must have a user's word before anybody is asked: among 10,000 names are
    /// many words.
    static let chance = 10

    /// Where no more of the numbers in a range are users' ids, ten of eleven are none by chance.
    static let density = 0.25
}
