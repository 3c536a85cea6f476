//! What native code has the addresses of, and what therefore lives as long as the code: the elements of constant
//! columns.

use nesl_prim::Constants;

/// What native code has the addresses of.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    constants: Vec<Constants>,
}

impl Kept {
    /// The address of the elements of a constant column.
    pub fn constants(&mut self, constants: &Constants) -> usize {
        let constants = constants.clone();
        // The elements stay where they are when the value that owns them moves.
        let address = match &constants {
            Constants::Int(elements) => elements.as_ptr().expose_provenance(),
            Constants::Float(elements) => elements.as_ptr().expose_provenance(),
            Constants::Bool(elements) => elements.as_ptr().expose_provenance(),
            Constants::Char(elements) => elements.as_ptr().expose_provenance(),
        };
        self.constants.push(constants);
        address
    }
}
