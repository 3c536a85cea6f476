//! The library of nesl, as source text.
//!
//! A leaf crate: data only. The front end loads [`FILES`] in order before any user program. A declaration without a
//! body stands for a built-in operation; everything else is NESL.

/// What the names of files begin with that hold what people write for themselves, too: `mean`, `merge`, `trim`.
/// Programs that do are not warned, so that the library can grow without a word to those who do not need it.
pub const EVERYDAY: &str = "stdlib/everyday/";

/// The library files in load order: name and text.
pub const FILES: &[(&str, &str)] = &[
    ("stdlib/scalar.nesl", include_str!("../nesl/scalar.nesl")),
    ("stdlib/sequence.nesl", include_str!("../nesl/sequence.nesl")),
    ("stdlib/select.nesl", include_str!("../nesl/select.nesl")),
    ("stdlib/text.nesl", include_str!("../nesl/text.nesl")),
    ("stdlib/output.nesl", include_str!("../nesl/output.nesl")),
    ("stdlib/moving.nesl", include_str!("../nesl/moving.nesl")),
    ("stdlib/order.nesl", include_str!("../nesl/order.nesl")),
    ("stdlib/keys.nesl", include_str!("../nesl/keys.nesl")),
    ("stdlib/higher.nesl", include_str!("../nesl/higher.nesl")),
    ("stdlib/strings.nesl", include_str!("../nesl/strings.nesl")),
    ("stdlib/tables.nesl", include_str!("../nesl/tables.nesl")),
    ("stdlib/streams.nesl", include_str!("../nesl/streams.nesl")),
    ("stdlib/files.nesl", include_str!("../nesl/files.nesl")),
    ("stdlib/csv.nesl", include_str!("../nesl/csv.nesl")),
    ("stdlib/everyday/statistics.nesl", include_str!("../nesl/everyday/statistics.nesl")),
    ("stdlib/everyday/sorting.nesl", include_str!("../nesl/everyday/sorting.nesl")),
    ("stdlib/everyday/strings.nesl", include_str!("../nesl/everyday/strings.nesl")),
    ("stdlib/everyday/arrays.nesl", include_str!("../nesl/everyday/arrays.nesl")),
    ("stdlib/everyday/equations.nesl", include_str!("../nesl/everyday/equations.nesl")),
    ("stdlib/everyday/pictures.nesl", include_str!("../nesl/everyday/pictures.nesl")),
];
