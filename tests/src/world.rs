//! The world outside of a program under test: everything but standard output is real, and what it prints is kept.

use nesl_backend::io::host::System;
use nesl_prim::Host;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// Keeps what is printed.
#[derive(Clone, Debug, Default)]
pub struct World {
    printed: Arc<Mutex<Vec<u8>>>,
}

impl World {
    /// What a program acts on.
    pub fn host(&self) -> Box<dyn Host> {
        Box::new(System::printing_to(Box::new(self.clone())))
    }

    /// The lines printed since the last time, also an unfinished one.
    pub fn take_lines(&self) -> Vec<String> {
        let text = std::mem::take(&mut *self.printed.lock().unwrap_or_else(PoisonError::into_inner));
        String::from_utf8_lossy(&text).lines().map(str::to_owned).collect()
    }
}

impl io::Write for World {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.printed.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
