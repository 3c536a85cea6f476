//! Whether programs run as native code.

/// Whether functions and groups of instructions run as native code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Native {
    /// Never.
    Off,
    /// Functions where the strategy is to run instances one after another, groups where they have enough to do.
    #[default]
    On,
    /// The same, however little groups have to do; and what native code gives is compared with what the machine's lines
    /// and the reference engine give: for finding bugs.
    Check,
}
