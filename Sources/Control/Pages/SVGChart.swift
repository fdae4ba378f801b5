/// A chart of counts as inline SVG: no script, no style attribute, nothing from elsewhere.
///
/// A page sets colors by the classes `chart`, `s0`, `s1`…; without any it is readable in print. The
/// title and the values are there for screen readers; a table beside it should say the same.
struct SVGChart: Sendable {
    enum Style: Sendable {
        case bars
        case line
    }

    struct Series: Sendable {
        let name: String
        let values: [Int]
    }

    let title: String
    /// Below the chart; some are left out where there is no room.
    let labels: [String]
    /// As many values as labels each; at most three.
    let series: [Series]
    var style = Style.bars
    /// In pixels where it is shown at its own size; letters have 11.
    var width = 680

    private static let height = 190
    private var area: (left: Int, right: Int, top: Int, bottom: Int) { (44, width - 8, 26, 164) }
    private static let fills = ["#1f4e79", "#e08a00", "#777777"]

    var svg: String {
        """
        <svg class="chart" role="img" viewBox="0 0 \(width) \(Self.height)" width="\(width)" \
        height="\(Self.height)" font-family="sans-serif" font-size="11" fill="currentColor">
        <title>\(HTMLText.escaped(title))</title>
        <desc>\(HTMLText.escaped(description))</desc>
        \((grid + marks + axis + legend).joined(separator: "\n"))
        </svg>
        """
    }

    private var description: String {
        series.map { series in
            "\(series.name): "
                + zip(labels, series.values).filter { $0.1 != 0 }
                .map { "\($0) \($1)" }.joined(separator: ", ")
        }.joined(separator: ". ") + "."
    }

    // MARK: Scale

    /// Between two lines of the grid: 1, 2 or 5 and zeros.
    private var step: Int {
        var step = 1
        while step * Self.lineCount < most {
            step = "\(step)".first == "2" ? step / 2 * 5 : step * 2
        }
        return step
    }

    private var most: Int { max(1, series.flatMap(\.values).max() ?? 1) }

    private var top: Int { (most + step - 1) / step * step }

    private static let lineCount = 4

    private func x(_ index: Int, _ part: Double) -> String {
        let area = area
        let slot = Double(area.right - area.left) / Double(max(1, labels.count))
        return Self.number(Double(area.left) + (Double(index) + part) * slot)
    }

    private func y(_ value: Int) -> String {
        let area = area
        let share = Double(value) / Double(top)
        return Self.number(Double(area.bottom) - share * Double(area.bottom - area.top))
    }

    /// One decimal is a tenth of a pixel.
    private static func number(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(abs(tenths % 10))"
    }

    // MARK: Parts

    private var grid: [String] {
        stride(from: 0, through: top, by: step).map { value in
            """
            <path d="M\(area.left) \(y(value))H\(area.right)" stroke="currentColor" \
            stroke-opacity="\(value == 0 ? "0.8" : "0.2")"/>\
            <text x="\(area.left - 6)" y="\(y(value))" dy="4" text-anchor="end">\(value)</text>
            """
        }
    }

    private var marks: [String] {
        series.enumerated().map { index, series in
            let fill = Self.fills[index % Self.fills.count]
            switch style {
            case .bars:
                return "<path class=\"s\(index)\" fill=\"\(fill)\" d=\"\(bars(index, series))\"/>"
            case .line:
                let dash = index == 0 ? "" : " stroke-dasharray=\"6 3\""
                let points = series.values.indices.map { "\(x($0, 0.5)) \(y(series.values[$0]))" }
                return """
                    <polyline class="l\(index)" fill="none" stroke="\(fill)" stroke-width="2"\
                    \(dash) points="\(points.joined(separator: " "))"/>
                    """
            }
        }
    }

    private func bars(_ index: Int, _ series: Series) -> String {
        let width = 0.8 / Double(max(1, self.series.count))
        let begin = 0.1 + Double(index) * width
        return series.values.indices.filter { series.values[$0] > 0 }.map { place in
            "M\(x(place, begin)) \(y(0))V\(y(series.values[place]))"
                + "H\(x(place, begin + width * 0.92))V\(y(0))Z"
        }.joined()
    }

    private var axis: [String] {
        let widest = labels.map(\.count).max() ?? 1
        let room = max(1, (area.right - area.left) / (widest * 7 + 8))
        let every = max(1, (labels.count + room - 1) / room)
        return labels.enumerated().filter { $0.offset % every == 0 }.map { index, label in
            """
            <text x="\(x(index, 0.5))" y="\(area.bottom + 16)" text-anchor="middle">\
            \(HTMLText.escaped(label))</text>
            """
        }
    }

    private var legend: [String] {
        guard series.count > 1 else { return [] }
        var left = area.left
        return series.enumerated().map { index, series in
            defer { left += series.name.count * 7 + 34 }
            return """
                <rect class="s\(index)" x="\(left)" y="4" width="11" height="11" \
                fill="\(Self.fills[index % Self.fills.count])"/>\
                <text x="\(left + 16)" y="14">\(HTMLText.escaped(series.name))</text>
                """
        }
    }
}
