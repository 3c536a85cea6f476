//! How ranks are started: by the launcher of MPI, with settings that work with more ranks than cores and for root.

use std::path::Path;
use std::process::Command;

/// The variable that names the launcher, with options before those of ours.
pub const LAUNCHER_VARIABLE: &str = "NESL_MPIRUN";

/// The launchers that are looked for.
const LAUNCHERS: [&str; 2] = ["mpirun", "mpiexec"];

/// How Open MPI is told, in its old and its new form, to start as many ranks as it is asked to, for any user, not to
/// tie them to cores that their threads then share, to let ranks that wait give up their core, and not to print the
/// stack of one that crashes. Other MPIs ignore these. What the user has set stays.
const SETTINGS: [(&str, &str); 8] = [
    ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
    ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
    ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
    ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"),
    ("OMPI_MCA_hwloc_base_binding_policy", "none"),
    ("PRTE_MCA_hwloc_default_binding_policy", "none"),
    ("OMPI_MCA_mpi_yield_when_idle", "1"),
    ("OMPI_MCA_opal_signal", ""),
];

/// Whether the user has named a launcher.
pub fn is_named() -> bool {
    named().is_some()
}

fn named() -> Option<String> {
    std::env::var(LAUNCHER_VARIABLE).ok().filter(|name| !name.trim().is_empty())
}

/// Commands that start a program on so many ranks, to be tried in order: by the launcher that the user has named, or by
/// those that there may be. Each with the name of its launcher; the program has no arguments yet.
pub fn commands(ranks: usize, program: &Path) -> Vec<(String, Command)> {
    let candidates: Vec<Vec<String>> = match named() {
        Some(name) if Path::new(&name).is_file() => vec![vec![name]],
        Some(words) => vec![words.split_whitespace().map(str::to_owned).collect()],
        None => LAUNCHERS.iter().map(|&name| vec![name.to_owned()]).collect(),
    };
    let command = |words: Vec<String>| {
        let (launcher, options) = words.split_first()?;
        let mut command = Command::new(launcher);
        command.args(options).arg("-n").arg(ranks.to_string()).arg(program);
        command.envs(SETTINGS.into_iter().filter(|(name, _)| std::env::var_os(name).is_none()));
        Some((launcher.clone(), command))
    };
    candidates.into_iter().filter_map(command).collect()
}
