//! Operations on the world outside: printing, streams, processes, the clock.

use super::Result;
use super::lower::{Lowering, Value};
use nesl_prim::{HostOp, ScalarType};
use nesl_vcode::program::Operand;

impl Lowering<'_> {
    /// An operation on the world outside; the vectors of its results.
    pub(super) fn outside(&mut self, op: HostOp, operands: &[Operand]) -> Result<Vec<Value>> {
        let values: Vec<Value> = operands.iter().map(|&operand| self.value(operand)).collect();
        // Above the results and the message is whether there is none.
        Ok(match op {
            HostOp::Print => {
                let stdout = self.op("CONST INT STDOUT", &[]);
                self.act("FWRITE CHAR", &[values[0], stdout], 2);
                Vec::new()
            }
            HostOp::Fail => {
                let newline = self.int(i64::from(b'\n'));
                self.act("WRITE CHAR", &[values[0]], 2);
                self.act("WRITE CHAR", &[newline], 2);
                self.act("EXIT", &[], 0);
                Vec::new()
            }
            HostOp::Exit => self.act("EXIT", &[], 0),
            HostOp::Clock => self.act("STOP_TIMER", &[], 1),
            HostOp::Open => self.act("FOPEN", &values, 3)[..2].to_vec(),
            HostOp::Close => self.act("FCLOSE", &values, 2)[..1].to_vec(),
            HostOp::Write(ScalarType::Char) => self.act("FWRITE CHAR", &[values[1], values[0]], 2)[..1].to_vec(),
            HostOp::Read => {
                let [stream, delimiters, most] = [values[0], values[1], values[2]];
                self.act("FREAD_CHAR", &[delimiters, most, stream], 4)[..3].to_vec()
            }
            HostOp::Spawn => {
                let left = self.act("SPAWN", &values, 5);
                vec![left[2], left[1], left[0], left[3]]
            }
            other => return self.unsupported(&other.to_string()),
        })
    }
}
