//! The instructions of the stack format that move vectors from the stack to the stack.
//!
//! One row each: its word, which type words may follow, and how many entries it takes and gives. What it means is in
//! [`super::read`]. Control (`CALL`, `IF`, `COPY`, …) and constants have statements of their own.

/// A type word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Word {
    Int,
    Float,
    Bool,
    Segdes,
    Char,
}

impl Word {
    pub const ALL: [Word; 5] = [Int, Float, Bool, Segdes, Char];

    pub fn text(self) -> &'static str {
        match self {
            Int => "INT",
            Float => "FLOAT",
            Bool => "BOOL",
            Segdes => "SEGDES",
            Char => "CHAR",
        }
    }
}

use Word::{Bool, Char, Float, Int, Segdes};

/// No type word follows.
const NONE: &[Word] = &[];
const NUMBER: &[Word] = &[Int, Float];
const LOGICAL: &[Word] = &[Int, Bool];
const DATA: &[Word] = &[Int, Float, Bool];
const SEED: &[Word] = &[Int];
const ALL: &[Word] = &[Int, Float, Bool, Segdes, Char];

macro_rules! opcodes {
    ($( $variant:ident $word:literal $types:ident $takes:literal => $gives:literal; )+) => {
        /// An instruction.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(super) enum Opcode { $( $variant, )+ }

        impl Opcode {
            pub const ALL: &'static [Opcode] = &[ $( Opcode::$variant, )+ ];

            /// Its word.
            pub fn word(self) -> &'static str {
                match self { $( Opcode::$variant => $word, )+ }
            }

            /// The type words of which one must follow; none may where there are none.
            pub fn types(self) -> &'static [Word] {
                match self { $( Opcode::$variant => $types, )+ }
            }

            /// How many entries it takes from the stack, and how many it gives.
            pub fn effect(self) -> (usize, usize) {
                match self { $( Opcode::$variant => ($takes, $gives), )+ }
            }
        }
    };
}

opcodes! {
    Add "+" NUMBER 2 => 1;
    Subtract "-" NUMBER 2 => 1;
    Multiply "*" NUMBER 2 => 1;
    Divide "/" NUMBER 2 => 1;
    Remainder "%" NONE 2 => 1;
    Less "<" NUMBER 2 => 1;
    AtMost "<=" NUMBER 2 => 1;
    Greater ">" NUMBER 2 => 1;
    AtLeast ">=" NUMBER 2 => 1;
    Equal "=" NUMBER 2 => 1;
    Unequal "!=" NUMBER 2 => 1;
    ShiftLeft "LSHIFT" NONE 2 => 1;
    ShiftRight "RSHIFT" NONE 2 => 1;
    Not "NOT" LOGICAL 1 => 1;
    And "AND" LOGICAL 2 => 1;
    Or "OR" LOGICAL 2 => 1;
    Xor "XOR" LOGICAL 2 => 1;
    Select "SELECT" DATA 3 => 1;
    Rand "RAND" NONE 1 => 1;
    Floor "FLOOR" NONE 1 => 1;
    Ceiling "CEIL" NONE 1 => 1;
    Truncate "TRUNC" NONE 1 => 1;
    Round "ROUND" NONE 1 => 1;
    Log "LOG" NONE 1 => 1;
    SquareRoot "SQRT" NONE 1 => 1;
    Exp "EXP" NONE 1 => 1;
    Sin "SIN" NONE 1 => 1;
    Cos "COS" NONE 1 => 1;
    Tan "TAN" NONE 1 => 1;
    Asin "ASIN" NONE 1 => 1;
    Acos "ACOS" NONE 1 => 1;
    Atan "ATAN" NONE 1 => 1;
    Sinh "SINH" NONE 1 => 1;
    Cosh "COSH" NONE 1 => 1;
    Tanh "TANH" NONE 1 => 1;
    IntToFloat "I_TO_F" NONE 1 => 1;
    IntToBool "I_TO_B" NONE 1 => 1;
    BoolToInt "B_TO_I" NONE 1 => 1;

    AddScan "+_SCAN" NUMBER 2 => 1;
    MultiplyScan "*_SCAN" NUMBER 2 => 1;
    MaximumScan "MAX_SCAN" NUMBER 2 => 1;
    MinimumScan "MIN_SCAN" NUMBER 2 => 1;
    AndScan "AND_SCAN" LOGICAL 2 => 1;
    OrScan "OR_SCAN" LOGICAL 2 => 1;
    XorScan "XOR_SCAN" LOGICAL 2 => 1;
    AddReduce "+_REDUCE" NUMBER 2 => 1;
    MultiplyReduce "*_REDUCE" NUMBER 2 => 1;
    MaximumReduce "MAX_REDUCE" NUMBER 2 => 1;
    MinimumReduce "MIN_REDUCE" NUMBER 2 => 1;
    AndReduce "AND_REDUCE" LOGICAL 2 => 1;
    OrReduce "OR_REDUCE" LOGICAL 2 => 1;
    XorReduce "XOR_REDUCE" LOGICAL 2 => 1;

    Permute "PERMUTE" DATA 3 => 1;
    PermuteOver "DPERMUTE" DATA 5 => 1;
    PermuteFlagged "FPERMUTE" DATA 5 => 1;
    Gather "BPERMUTE" DATA 4 => 1;
    GatherFlagged "BFPERMUTE" DATA 5 => 1;
    PermuteFlaggedOver "DFPERMUTE" DATA 6 => 1;
    Extract "EXTRACT" DATA 3 => 1;
    Replace "REPLACE" DATA 4 => 1;
    Distribute "DIST" DATA 2 => 1;
    Index "INDEX" NONE 3 => 1;
    RankUp "RANK_UP" NUMBER 2 => 1;
    RankDown "RANK_DOWN" NUMBER 2 => 1;
    Pack "PACK" DATA 3 => 2;

    MakeSegdes "MAKE_SEGDES" NONE 1 => 1;
    Lengths "LENGTHS" NONE 1 => 1;
    Length "LENGTH" DATA 1 => 1;

    Pair "PAIR" NONE 2 => 1;
    Unpair "UNPAIR" NONE 1 => 2;
    StartTimer "START_TIMER" NONE 0 => 0;
    StopTimer "STOP_TIMER" NONE 0 => 1;
    SetSeed "SRAND" SEED 1 => 1;

    Read "READ" ALL 0 => 3;
    Write "WRITE" ALL 1 => 2;
    ReadFrom "FREAD" ALL 1 => 3;
    WriteTo "FWRITE" ALL 2 => 2;
    Open "FOPEN" NONE 2 => 3;
    Close "FCLOSE" NONE 1 => 2;
    ReadCharacters "FREAD_CHAR" NONE 3 => 4;
    Spawn "SPAWN" NONE 4 => 5;
}

impl Opcode {
    /// The instruction with this word.
    pub fn by_word(word: &str) -> Option<Opcode> {
        Opcode::ALL.iter().copied().find(|opcode| opcode.word() == word)
    }
}
