//! What Neovim shows: a grid of cells with their colours, kept from the events that a user interface gets.

use rmpv::Value;
use std::collections::HashMap;

/// A cell: what is in it (nothing in the second half of a wide character), and the number of its look.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) text: String,
    pub(super) look: u64,
}

/// How a cell looks. Colours are `0xRRGGBB`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Look {
    pub(super) foreground: Option<u64>,
    pub(super) background: Option<u64>,
    pub(super) bold: bool,
    pub(super) italic: bool,
    pub(super) underline: bool,
    pub(super) reverse: bool,
}

/// The screen.
#[derive(Debug, Default)]
pub(super) struct Screen {
    pub(super) rows: Vec<Vec<Cell>>,
    pub(super) looks: HashMap<u64, Look>,
    pub(super) foreground: u64,
    pub(super) background: u64,
    /// Row and column.
    pub(super) cursor: (usize, usize),
}

impl Screen {
    /// Takes an event, which may have happened several times; `true` when the screen is whole now.
    pub(super) fn take(&mut self, event: &Value) -> bool {
        let Some([name, times @ ..]) = event.as_array().map(Vec::as_slice) else {
            return false;
        };
        let name = name.as_str().unwrap_or_default();
        for arguments in times.iter().filter_map(Value::as_array) {
            self.happen(name, arguments);
        }
        name == "flush"
    }

    fn happen(&mut self, name: &str, arguments: &[Value]) {
        let number = |index: usize| arguments.get(index).and_then(Value::as_i64).unwrap_or_default();
        let place = |index: usize| usize::try_from(number(index)).unwrap_or_default();
        match name {
            "grid_resize" => self.rows = vec![vec![blank(); place(1)]; place(2)],
            "grid_clear" => self.rows.iter_mut().flatten().for_each(|cell| *cell = blank()),
            "grid_cursor_goto" => self.cursor = (place(1), place(2)),
            "grid_line" => self.line(place(1), place(2), &arguments[3]),
            "grid_scroll" => self.scroll(place(1)..place(2), place(3)..place(4), number(5)),
            "default_colors_set" => {
                (self.foreground, self.background) = (place(0) as u64, place(1) as u64);
            }
            "hl_attr_define" => {
                self.looks.insert(place(0) as u64, look(&arguments[1]));
            }
            _ => {}
        }
    }

    fn line(&mut self, row: usize, start: usize, cells: &Value) {
        let (mut column, mut last_look) = (start, 0);
        for cell in cells.as_array().into_iter().flatten().filter_map(Value::as_array) {
            let text = cell[0].as_str().unwrap_or_default();
            last_look = cell.get(1).and_then(Value::as_u64).unwrap_or(last_look);
            for _ in 0..cell.get(2).and_then(Value::as_u64).unwrap_or(1) {
                self.rows[row][column] = Cell { text: text.to_owned(), look: last_look };
                column += 1;
            }
        }
    }

    /// Moves what is in a rectangle up, or down when `by` is negative.
    fn scroll(&mut self, rows: std::ops::Range<usize>, columns: std::ops::Range<usize>, by: i64) {
        let mut order: Vec<usize> = rows.clone().collect();
        if by < 0 {
            order.reverse();
        }
        for row in order {
            let from = row as i64 + by;
            if let Some(from) = usize::try_from(from).ok().filter(|from| rows.contains(from)) {
                let moved = self.rows[from][columns.clone()].to_vec();
                self.rows[row][columns.clone()].clone_from_slice(&moved);
            }
        }
    }

    /// The text of the screen, without white space at the ends of lines.
    pub(super) fn text(&self) -> String {
        let line = |row: &Vec<Cell>| {
            let line: String = row.iter().map(|cell| cell.text.as_str()).collect();
            line.trim_end().to_owned() + "\n"
        };
        self.rows.iter().map(line).collect()
    }
}

fn blank() -> Cell {
    Cell { text: " ".to_owned(), look: 0 }
}

fn look(attributes: &Value) -> Look {
    let attribute = |name: &str| {
        let attributes = attributes.as_map()?;
        attributes.iter().find(|(key, _)| key.as_str() == Some(name)).map(|(_, value)| value)
    };
    let is = |name: &str| attribute(name).and_then(Value::as_bool).unwrap_or(false);
    let colour = |name: &str| attribute(name).and_then(Value::as_u64);
    Look {
        foreground: colour("foreground"),
        background: colour("background"),
        bold: is("bold"),
        italic: is("italic"),
        underline: is("underline"),
        reverse: is("reverse"),
    }
}
