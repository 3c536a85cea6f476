//! Finding and starting the launcher of MPI.

use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// Whether MPI can be used here.
#[derive(Clone, Debug)]
pub enum Mpi {
    /// With this launcher.
    Available(PathBuf),
    /// Not, for this reason. Tests are skipped, visibly.
    Missing(String),
}

/// Settings by which Open MPI starts more ranks than there are cores, also for root.
pub const OVERSUBSCRIBED: [(&str, &str); 6] = [
    ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
    ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
    // Ranks that wait must give up their core to those that work.
    ("OMPI_MCA_mpi_yield_when_idle", "1"),
    ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
    ("OMPI_MCA_hwloc_base_binding_policy", "none"),
    ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"),
];

/// Whether the environment says that tests on MPI must run.
pub fn is_required() -> bool {
    std::env::var_os("NESL_REQUIRE_MPI").is_some_and(|value| value == "1")
}

/// The launcher: `$NESL_MPIRUN`, `mpirun` or `mpiexec`.
pub fn find() -> Mpi {
    if let Some(path) = std::env::var_os("NESL_MPIRUN") {
        return Mpi::Available(PathBuf::from(path));
    }
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect();
    let found = ["mpirun", "mpiexec"]
        .iter()
        .find_map(|name| folders.iter().map(|folder| folder.join(name)).find(|path| path.is_file()));
    found.map_or_else(|| Mpi::Missing("there is no mpirun in the PATH".to_owned()), Mpi::Available)
}

/// The launcher and the command `nesl`, for tests that run it on ranks; nothing where there is no MPI.
///
/// # Panics
/// If MPI is required.
pub fn tools() -> Option<(PathBuf, PathBuf)> {
    let missing = match (find(), crate::command::nesl()) {
        (Mpi::Available(launcher), Some(nesl)) => return Some((launcher, nesl)),
        (Mpi::Missing(reason), _) => reason,
        (_, None) => "the binary nesl is not built: cargo build --features mpi -p nesl".to_owned(),
    };
    assert!(!is_required(), "MPI is required, but {missing}");
    println!("skipped: {missing}");
    None
}

/// A command that starts `binary` on so many ranks, also more than there are cores, also for root.
pub fn command(launcher: &Path, ranks: usize, binary: &Path) -> Command {
    let mut command = Command::new(launcher);
    command.args(["-n", &ranks.to_string()]).arg(binary).envs(OVERSUBSCRIBED);
    command
}

/// Ends a launcher and with it the ranks: politely first, so that it can end them itself.
pub fn end(child: &mut Child) {
    let _ = Command::new("kill").arg(child.id().to_string()).status();
    let patience = Instant::now() + Duration::from_secs(5);
    while Instant::now() < patience {
        if !matches!(child.try_wait(), Ok(None)) {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let _ = child.kill();
    let _ = child.wait();
}
