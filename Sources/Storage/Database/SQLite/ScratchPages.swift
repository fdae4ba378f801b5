/// Writes zeros over the two pages of scratch memory that a connection of SQLite keeps.
///
/// They hold the cell written last and the page put in order last (btree.c, `fillInCell` and
/// `defragmentPage`): rows with user ids. Only the same work with other content overwrites them.
struct ScratchPages {
    /// One row that fills a page of 4096 bytes as far as a row can; then seven that fill one to the
    /// last byte, holes between them, and one that fits no hole.
    private static let steps = [
        "INSERT INTO scratch (id, zeros) VALUES (1, zeroblob(4057))",
        "DELETE FROM scratch",
        """
        WITH RECURSIVE n (id) AS (VALUES (1) UNION ALL SELECT id + 1 FROM n WHERE id < 7)
        INSERT INTO scratch (id, zeros) SELECT id, zeroblob(575) FROM n
        """,
        "DELETE FROM scratch WHERE id % 2 = 0",
        "INSERT INTO scratch (id, zeros) VALUES (8, zeroblob(1000))",
        "DELETE FROM scratch",
    ]

    let database: any StateConnection

    /// Costs one page in the WAL.
    func overwrite() throws {
        for step in Self.steps { try database.run(step) }
    }
}
