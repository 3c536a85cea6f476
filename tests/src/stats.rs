//! The table that `--stats` prints, read back.

/// The counters of all ranks.
#[derive(Debug)]
pub struct Table(Vec<Vec<String>>);

impl Table {
    /// The table in what a command printed.
    ///
    /// # Panics
    /// If there is none.
    pub fn read(text: &str) -> Table {
        let lines = text.lines().skip_while(|line| !line.trim_start().starts_with("rank "));
        // Headings may be of two words; columns are two blanks apart.
        let cells = |line: &str| -> Vec<String> {
            line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect()
        };
        let rows: Vec<Vec<String>> = lines.map(cells).collect();
        assert!(!rows.is_empty(), "no counters in\n{text}");
        Table(rows)
    }

    /// A counter of each rank, by its heading.
    ///
    /// # Panics
    /// If there is no such heading.
    pub fn column(&self, heading: &str) -> Vec<u64> {
        let number = |cell: &String| cell.parse().unwrap_or_else(|_| panic!("counters are numbers: {cell}"));
        self.cells(heading).map(number).collect()
    }

    /// A time of each rank in seconds, by its heading.
    ///
    /// # Panics
    /// If there is no such heading.
    pub fn seconds(&self, heading: &str) -> Vec<f64> {
        let number = |cell: &String| cell.strip_suffix(" s").and_then(|number| number.parse().ok());
        self.cells(heading).map(|cell| number(cell).unwrap_or_else(|| panic!("times are seconds: {cell}"))).collect()
    }

    fn cells(&self, heading: &str) -> impl Iterator<Item = &String> {
        let position = self.0[0].iter().position(|cell| cell == heading);
        let position = position.unwrap_or_else(|| panic!("no column {heading} in {:?}", self.0[0]));
        let is_rank = |row: &&Vec<String>| row.first().is_some_and(|cell| cell.parse::<u64>().is_ok());
        self.0[1..].iter().take_while(is_rank).map(move |row| &row[position])
    }
}
