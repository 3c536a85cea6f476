//! Texts that are put together of pieces, as tests do it: with registers as they come.

/// The text with the registers of each function numbered from 0 on, in the order in which they occur: a program's
/// registers have no gaps.
pub fn numbered(text: &str) -> String {
    let of_function = |function: &str| {
        let mut known = Vec::new();
        let mut pieces = function.split('%');
        let mut numbered = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let end = piece.find(|c: char| !c.is_ascii_digit()).unwrap_or(piece.len());
            let (register, rest) = piece.split_at(end);
            let number = known.iter().position(|&other| other == register).unwrap_or_else(|| {
                known.push(register);
                known.len() - 1
            });
            numbered.push_str(&format!("%{number}{rest}"));
        }
        numbered
    };
    let functions: Vec<String> = text.split("function").map(of_function).collect();
    functions.join("function")
}
