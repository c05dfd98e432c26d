//! A screen as a picture, in SVG: what a person would see.

use super::screen::{Cell, Look, Screen};
use std::fmt::Write;

const CELL_WIDTH: f64 = 8.0;
const CELL_HEIGHT: f64 = 17.0;
/// How far the foot of the letters is above the bottom of a cell.
const FOOT: f64 = 4.5;

/// The whole screen.
pub(super) fn svg(screen: &Screen) -> String {
    let columns = screen.rows.first().map_or(0, Vec::len);
    let (width, height) = (columns as f64 * CELL_WIDTH, screen.rows.len() as f64 * CELL_HEIGHT);
    let mut picture = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" font-size=\"13.3\"><rect width=\"100%\" height=\"100%\" fill=\"#{:06x}\"/>\n",
        screen.background
    );
    for (number, row) in screen.rows.iter().enumerate() {
        let mut start = 0;
        while start < row.len() {
            let same = row[start..].iter().take_while(|cell| cell.look == row[start].look).count();
            run(&mut picture, screen, number, start, &row[start..start + same]);
            start += same;
        }
    }
    let (row, column) = screen.cursor;
    let (x, y) = (column as f64 * CELL_WIDTH, row as f64 * CELL_HEIGHT);
    let _ = writeln!(
        picture,
        "<rect x=\"{x}\" y=\"{y}\" width=\"{CELL_WIDTH}\" height=\"{CELL_HEIGHT}\" fill=\"#{:06x}\" opacity=\"0.6\"/>",
        screen.foreground
    );
    picture + "</svg>\n"
}

/// Neighbouring cells that look the same.
fn run(picture: &mut String, screen: &Screen, row: usize, start: usize, cells: &[Cell]) {
    let look = screen.looks.get(&cells[0].look).copied().unwrap_or_default();
    let (foreground, background) = colours(screen, look);
    let (x, y) = (start as f64 * CELL_WIDTH, row as f64 * CELL_HEIGHT);
    let width = cells.len() as f64 * CELL_WIDTH;
    if background != screen.background {
        let _ = writeln!(
            picture,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{CELL_HEIGHT}\" fill=\"#{background:06x}\"/>"
        );
    }
    // A wide character has two cells, so what is shown is counted in cells.
    let Some(last) = cells.iter().rposition(|cell| cell.text != " ") else {
        return;
    };
    let text: String = cells[..=last].iter().map(|cell| cell.text.as_str()).collect();
    let mut style = String::new();
    for (is, words) in [
        (look.bold, " font-weight=\"bold\""),
        (look.italic, " font-style=\"italic\""),
        (look.underline, " text-decoration=\"underline\""),
    ] {
        style.push_str(if is { words } else { "" });
    }
    let foot = y + CELL_HEIGHT - FOOT;
    // Spaces that not every viewer makes one of.
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace(' ', "\u{a0}");
    let shown = (last + 1) as f64 * CELL_WIDTH;
    let _ = writeln!(
        picture,
        "<text x=\"{x}\" y=\"{foot}\" textLength=\"{shown}\" fill=\"#{foreground:06x}\"{style}>{text}</text>"
    );
}

fn colours(screen: &Screen, look: Look) -> (u64, u64) {
    let foreground = look.foreground.unwrap_or(screen.foreground);
    let background = look.background.unwrap_or(screen.background);
    if look.reverse { (background, foreground) } else { (foreground, background) }
}
