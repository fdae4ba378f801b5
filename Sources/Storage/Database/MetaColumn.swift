/// The columns of `meta`, which holds small facts.
enum MetaColumn: Int32, Columns {
    case key, value

    static let replacement =
        insertion(of: allCases, into: "meta")
        + " ON CONFLICT (key) DO UPDATE SET value = excluded.value"

    /// Adds to the uses of a vault key.
    static let wrapCount = """
        INSERT INTO meta (\(names())) VALUES ('wrap_count.' || ?1, CAST(?2 AS TEXT))
        ON CONFLICT (key) DO UPDATE SET value = CAST(CAST(meta.value AS INTEGER) + ?2 AS TEXT)
        """
}
