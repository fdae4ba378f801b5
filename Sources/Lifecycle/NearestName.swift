/// Finds the name that was probably meant.
package enum NearestName {
    /// The name with the least edit distance, the first of equals.
    ///
    /// `nil` when more than a third of the longer name would have to change.
    package static func find(_ written: String, in names: [String]) -> String? {
        // Nothing that is meant is longer, and the distance costs the product of the lengths.
        guard written.utf8.count <= 64 else { return nil }
        let ranked = names.map { (name: $0, distance: distance(written, $0)) }
        guard let best = ranked.min(by: { $0.distance < $1.distance }) else { return nil }
        let longest = max(written.utf8.count, best.name.utf8.count)
        return best.distance <= max(2, longest / 3) ? best.name : nil
    }

    /// Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment).
    static func distance(_ left: String, _ right: String) -> Int {
        let left = Array(left.utf8)
        let right = Array(right.utf8)
        var beforePrevious: [Int] = []
        var previous = Array(0...right.count)
        for row in 0..<left.count {
            var current = [row + 1]
            for column in 0..<right.count {
                let change = left[row] == right[column] ? 0 : 1
                var best = min(previous[column] + change, previous[column + 1] + 1)
                best = min(best, current[column] + 1)
                if row > 0, column > 0, left[row] == right[column - 1],
                    left[row - 1] == right[column]
                {
                    best = min(best, beforePrevious[column - 1] + 1)
                }
                current.append(best)
            }
            beforePrevious = previous
            previous = current
        }
        return previous[right.count]
    }
}
