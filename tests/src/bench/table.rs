//! The measures as a table for people, in markdown.

use super::Measure;

/// What stands above the table in the file that keeps it.
pub const HEADING: &str = "# Airlock's numbers\n\nWritten by `cargo xtask bench`: the release build, on the machine that last ran it. The median is what counts: by itself, or\nagainst what was measured in the same run.\n\n";

const COLUMNS: [&str; 9] = ["what", "median", "99 %", "samples", "against", "its 99 %", "ratio", "goal", ""];

type Row = [String; COLUMNS.len()];

/// The table, a line a measure.
pub fn render(measures: &[Measure]) -> String {
    let rule = ["---"; COLUMNS.len()].map(str::to_owned);
    let header = COLUMNS.map(str::to_owned);
    let rows: Vec<Row> = [header, rule].into_iter().chain(measures.iter().map(row)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; COLUMNS.len()] = std::array::from_fn(width);
    let line = |row: &Row| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!(" {cell:width$} |"));
        format!("|{}\n", cells.collect::<String>())
    };
    rows.iter().map(line).collect()
}

fn row(measure: &Measure) -> Row {
    let in_unit = |value: f64| format!("{} {}", number(value), measure.unit);
    let goal_unit = if measure.anchor.is_some() { "×" } else { measure.unit };
    let anchor = measure.anchor.as_ref();
    [
        measure.what.to_owned(),
        in_unit(measure.percentile(50)),
        in_unit(measure.percentile(99)),
        measure.samples.len().to_string(),
        anchor.map_or_else(String::new, |anchor| {
            format!("{}: {}", anchor.what, in_unit(anchor.percentile(50)))
        }),
        anchor.map_or_else(String::new, |anchor| in_unit(anchor.percentile(99))),
        measure.ratio().map_or_else(String::new, |ratio| format!("{} ×", number(ratio))),
        format!("≤ {} {goal_unit}", measure.goal),
        if measure.passed() { "pass" } else { "FAIL" }.to_owned(),
    ]
}

fn number(value: f64) -> String {
    let digits = if value.abs() < 0.1 { 4 } else { 2 };
    format!("{value:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missed_goal_is_seen() {
        let measures = [
            Measure::new("quick", "ms", 2.0, vec![1.0]),
            Measure::new("slow", "MB", 2.0, vec![3.25]),
            Measure::new("beside", "ms", 0.025, vec![2.0]).against("a peer", vec![100.0, 90.0, 120.0]),
        ];
        let expected = "\
| what   | median  | 99 %    | samples | against           | its 99 %  | ratio    | goal      |      |
| ---    | ---     | ---     | ---     | ---               | ---       | ---      | ---       | ---  |
| quick  | 1.00 ms | 1.00 ms | 1       |                   |           |          | ≤ 2 ms    | pass |
| slow   | 3.25 MB | 3.25 MB | 1       |                   |           |          | ≤ 2 MB    | FAIL |
| beside | 2.00 ms | 2.00 ms | 1       | a peer: 100.00 ms | 120.00 ms | 0.0200 × | ≤ 0.025 × | pass |
";
        assert_eq!(render(&measures), expected);
    }
}
