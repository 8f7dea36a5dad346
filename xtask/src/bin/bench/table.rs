//! The table of figures, each with its reference figure and its goal.

/// One figure.
pub(crate) struct Row {
    /// The name of the measurement.
    pub(crate) what: &'static str,
    /// The figure, with its unit.
    pub(crate) figure: String,
    /// The reference figure, measured in the same run.
    pub(crate) beside: String,
    /// The ratio of the two.
    pub(crate) ratio: Option<f64>,
    /// The goal, and whether it was reached; `None` if there is none.
    pub(crate) goal: Option<(&'static str, bool)>,
}

/// All figures of a run.
#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<Row>,
    /// The number of rows that were printed.
    printed: usize,
}

impl Table {
    pub(crate) fn add(&mut self, row: Row) {
        self.rows.push(row);
    }

    /// The number of missed goals.
    pub(crate) fn misses(&self) -> usize {
        self.rows.iter().filter(|row| matches!(row.goal, Some((_, false)))).count()
    }

    /// Prints the figures that were added since the last time, in columns: a run that is cut short has shown what it measured.
    pub(crate) fn print_new(&mut self) {
        let head = ["what", "figure", "beside", "ratio", "goal", ""].map(str::to_owned);
        let new = self.rows.iter().skip(self.printed);
        let lines: Vec<[String; 6]> = std::iter::once(head).chain(new.map(cells)).collect();
        self.printed = self.rows.len();
        let widths = lines.iter().fold([0; 6], |widths: [usize; 6], line| {
            std::array::from_fn(|column| widths[column].max(line[column].chars().count()))
        });
        for line in &lines {
            let [what, figure, beside, ratio, goal, verdict] = line;
            println!(
                "{what:<0$}  {figure:>1$}  {beside:<2$}  {ratio:>3$}  {goal:<4$}  {verdict}",
                widths[0], widths[1], widths[2], widths[3], widths[4]
            );
        }
        println!();
    }

    /// Prints how many goals were missed.
    pub(crate) fn print_misses(&self) {
        let goals = self.rows.iter().filter(|row| row.goal.is_some()).count();
        println!("{} of {goals} goals missed", self.misses());
    }
}

fn cells(row: &Row) -> [String; 6] {
    let ratio = row.ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"));
    let (goal, verdict) = match row.goal {
        Some((goal, true)) => (goal, "ok"),
        Some((goal, false)) => (goal, "MISS"),
        None => ("-", ""),
    };
    [row.what.to_owned(), row.figure.clone(), row.beside.clone(), ratio, goal.to_owned(), verdict.to_owned()]
}
