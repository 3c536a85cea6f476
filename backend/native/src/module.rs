//! Memory with machine code in it, and the way there.

use cranelift_codegen::Context;
use cranelift_codegen::ir::{Signature, UserFuncName};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{ArenaMemoryProvider, JITBuilder, JITModule};
use cranelift_module::{FuncId, Module as _, default_libcall_names};
use std::fmt;
use std::mem::ManuallyDrop;

/// Address space for code; memory is taken as code is made.
const CODE_BYTES: usize = 256 << 20;

/// Why there is no native code: the machine is not one that Cranelift knows, or does not let programs write code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unavailable(pub String);

impl fmt::Display for Unavailable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "no native code: {}", self.0)
    }
}

impl std::error::Error for Unavailable {}

fn unavailable(error: impl fmt::Display) -> Unavailable {
    Unavailable(error.to_string())
}

/// The machine that code is made for: that of this process.
///
/// # Errors
/// If no code can be made for it.
pub fn target() -> Result<String, Unavailable> {
    cranelift_native::builder().map(|builder| builder.triple().to_string()).map_err(unavailable)
}

/// Functions in machine code. They live as long as this.
pub(crate) struct Module {
    /// Only dropping takes it.
    jit: ManuallyDrop<JITModule>,
    context: Context,
    builder: FunctionBuilderContext,
}

impl Module {
    /// A module without functions.
    pub fn new() -> Result<Module, Unavailable> {
        let mut flags = settings::builder();
        let verifier = if cfg!(debug_assertions) { "true" } else { "false" };
        let settings = [
            ("opt_level", "speed"),
            ("is_pic", "false"),
            ("use_colocated_libcalls", "false"),
            ("enable_verifier", verifier),
            ("enable_multi_ret_implicit_sret", "true"),
            ("unwind_info", "false"),
        ];
        for (name, value) in settings {
            flags.set(name, value).map_err(unavailable)?;
        }
        let isa = cranelift_native::builder().map_err(unavailable)?;
        let isa = isa.finish(settings::Flags::new(flags)).map_err(unavailable)?;
        let mut builder = JITBuilder::with_isa(isa, default_libcall_names());
        builder.memory_provider(Box::new(ArenaMemoryProvider::new_with_size(CODE_BYTES).map_err(unavailable)?));
        let jit = JITModule::new(builder);
        let context = jit.make_context();
        Ok(Module { jit: ManuallyDrop::new(jit), context, builder: FunctionBuilderContext::new() })
    }

    /// The module of Cranelift.
    pub fn jit(&mut self) -> &mut JITModule {
        &mut self.jit
    }

    /// A signature without parameters.
    pub fn signature(&mut self) -> Signature {
        self.jit().make_signature()
    }

    /// Announces a function, so that others can call it.
    pub fn declare(&mut self, signature: &Signature) -> Result<FuncId, Unavailable> {
        self.jit().declare_anonymous_function(signature).map_err(unavailable)
    }

    /// Compiles the body of an announced function.
    pub fn define(
        &mut self,
        id: FuncId,
        signature: Signature,
        emit: impl FnOnce(FunctionBuilder<'_>, &mut JITModule),
    ) -> Result<(), Unavailable> {
        let Module { jit, context, builder } = self;
        context.func.signature = signature;
        context.func.name = UserFuncName::user(0, id.as_u32());
        emit(FunctionBuilder::new(&mut context.func, builder), jit);
        let defined = jit.define_function(id, context).map_err(|error| Unavailable(format!("{error:?}")));
        jit.clear_context(context);
        defined
    }

    /// Makes what was defined ready to run.
    pub fn finish(&mut self) -> Result<(), Unavailable> {
        self.jit().finalize_definitions().map_err(unavailable)
    }

    /// Where a function that is ready begins.
    pub fn address(&mut self, id: FuncId) -> *const u8 {
        self.jit().get_finalized_function(id)
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: nobody sees the module after this; and whoever has the address of a function also keeps the module
        // alive ([`crate::Compiled`]).
        unsafe { ManuallyDrop::take(&mut self.jit).free_memory() };
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Module")
    }
}
