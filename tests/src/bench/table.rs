//! The measures as a table for people, in markdown.

use super::Measure;

/// What stands above the table in the file that keeps it.
pub const HEADING: &str = "# Airlock's numbers\n\nWritten by `cargo xtask bench`: the release build, on the machine that last ran it.\n\n";

/// The table, a line a measure.
pub fn render(measures: &[Measure]) -> String {
    let header = ["what", "goal (p50)", "p50", "p99", "samples", ""].map(str::to_owned);
    let rule = ["---"; 6].map(str::to_owned);
    let rows: Vec<[String; 6]> = [header, rule].into_iter().chain(measures.iter().map(row)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 6] = std::array::from_fn(width);
    let line = |row: &[String; 6]| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!(" {cell:width$} |"));
        format!("|{}\n", cells.collect::<String>())
    };
    rows.iter().map(line).collect()
}

fn row(measure: &Measure) -> [String; 6] {
    let digits = if measure.percentile(50) < 0.1 { 4 } else { 2 };
    let number = |value: f64| format!("{value:.digits$} {}", measure.unit);
    let verdict = match (measure.passed(), measure.goal) {
        (false, _) => "FAIL",
        (true, None) => "",
        (true, Some(_)) => "pass",
    };
    [
        measure.what.to_owned(),
        measure.goal.map_or_else(String::new, |goal| format!("≤ {goal} {}", measure.unit)),
        number(measure.percentile(50)),
        number(measure.percentile(99)),
        measure.samples.len().to_string(),
        verdict.to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missed_goal_is_seen() {
        let measures = [
            Measure::new("quick", "ms", 2.0, vec![1.0]),
            Measure::new("slow", "MB", 2.0, vec![3.25]),
            Measure::told("there", "×", vec![0.0421]),
        ];
        let expected = "\
| what  | goal (p50) | p50      | p99      | samples |      |
| ---   | ---        | ---      | ---      | ---     | ---  |
| quick | ≤ 2 ms     | 1.00 ms  | 1.00 ms  | 1       | pass |
| slow  | ≤ 2 MB     | 3.25 MB  | 3.25 MB  | 1       | FAIL |
| there |            | 0.0421 × | 0.0421 × | 1       |      |
";
        assert_eq!(render(&measures), expected);
    }
}
