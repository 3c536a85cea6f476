//! Core of all programs: it is what its documentation says, and reads back from its text as it was.

use nesl_frontend::core::verify::{Verified, verify};
use nesl_frontend::core::{parse, print};
use nesl_tests::programs::all;
use nesl_tests::session::check;

#[test]
fn core_of_all_programs_is_right_and_reads_back() {
    let mut count = 0;
    for program in all() {
        let Ok(checked) = check(&program.text, None) else { continue };
        let core = checked.core();
        assert_eq!(verify(core, &checked.forms, Verified::default()), Ok(()), "{}", program.name);
        let text = print::program(core);
        let mut read = parse::program(&text).unwrap_or_else(|error| panic!("{}: {error}", program.name));
        assert!(print::program(&read) == text, "{}", program.name);
        let mut forms = Vec::with_capacity(checked.forms.len());
        for form in &checked.forms {
            let text = print::form(form, core);
            let form = parse::form(&text, &mut read).unwrap_or_else(|error| panic!("{}: {error}", program.name));
            assert!(print::form(&form, &read) == text, "{}: {text}", program.name);
            forms.push(form);
        }
        // What was read is as right as what was printed: the text has lost nothing that matters.
        assert_eq!(verify(&read, &forms, Verified::default()), Ok(()), "{}", program.name);
        count += 1;
    }
    assert!(count >= 300, "only {count} programs were checked");
}
