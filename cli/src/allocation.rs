//! Processes that a batch system has started beside each other without MPI between them.
//!
//! `srun nesl run …` where Slurm and the MPI do not know each other starts as many copies of the whole program as there
//! are tasks: each prints the same, each writes the same files. That is what nobody means who does not say so:
//! `--engine threads` does.

use crate::launch::Launched;
use crate::options::{EngineName, RunOptions};
use crate::stop::Stop;

/// The variables of Slurm that say which task of a step of how many this process is. The script of a job and its shell
/// are no step, or one of a single task.
const TASK: &str = "SLURM_PROCID";
const TASKS: &str = "SLURM_STEP_NUM_TASKS";

/// One of several tasks that do not know of each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Which.
    pub task: usize,
    /// Of how many.
    pub tasks: usize,
}

impl Step {
    /// The step that this process is a task of, if there are several and no MPI connects them.
    pub fn detect() -> Option<Step> {
        Step::detect_in(|name| std::env::var(name).ok())
    }

    fn detect_in(variable: impl Fn(&str) -> Option<String>) -> Option<Step> {
        let number = |name: &str| variable(name)?.parse::<usize>().ok();
        let (task, tasks) = (number(TASK)?, number(TASKS)?);
        let is_joined = Launched::detect_in(&variable).is_some();
        (tasks > 1 && !is_joined).then_some(Step { task, tasks })
    }

    /// Nothing, where each task is to run the program by itself.
    ///
    /// # Errors
    /// Where nobody has said so. One task says what to write instead.
    pub fn refuse(self, options: &RunOptions) -> Result<(), Stop> {
        match options.engine {
            Some(EngineName::Threads | EngineName::Reference | EngineName::Oracle) if options.ranks.is_none() => Ok(()),
            _ => {
                let stop = Stop::failed(format!("error: {}\n{}", self.problem(), remedy()));
                Err(if self.task == 0 { stop } else { stop.silent() })
            }
        }
    }

    /// What is wrong.
    pub fn problem(self) -> String {
        format!(
            "srun has started {} tasks that do not know of each other: each would run the whole program by itself",
            self.tasks
        )
    }
}

/// What to write instead.
#[cfg(feature = "mpi")]
fn remedy() -> &'static str {
    "hint: write `srun --mpi=pmix nesl …` (`srun --mpi=list` shows what this Slurm has), or `mpirun nesl …` in place of srun;\n\
     with --engine threads every task runs the program by itself"
}

/// The same where there is no MPI at all.
#[cfg(not(feature = "mpi"))]
fn remedy() -> &'static str {
    "hint: this nesl was built without MPI; rebuild it with:  cargo build --release -p nesl --features mpi\n\
     with --engine threads every task runs the program by itself"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn among(variables: &[(&str, &str)]) -> Option<Step> {
        Step::detect_in(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn a_step_of_several_tasks_without_mpi_is_known() {
        let task = ("SLURM_PROCID", "1");
        assert_eq!(among(&[task, ("SLURM_STEP_NUM_TASKS", "4")]), Some(Step { task: 1, tasks: 4 }));
        // A task by itself, the script of a job of many tasks, and a shell outside of any job.
        assert_eq!(among(&[("SLURM_PROCID", "0"), ("SLURM_STEP_NUM_TASKS", "1")]), None);
        assert_eq!(among(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "4")]), None);
        assert_eq!(among(&[("SLURM_ARRAY_TASK_ID", "3")]), None);
        // Ranks of an MPI job, whoever started them.
        for rank in ["PMIX_RANK", "PMI_RANK", "OMPI_COMM_WORLD_RANK"] {
            assert_eq!(among(&[task, ("SLURM_STEP_NUM_TASKS", "4"), (rank, "1")]), None, "{rank}");
        }
    }
}
