//! Starts this test under an MPI launcher and watches over it.

use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// Numbers of ranks to test; more than a small machine has processors. Random programs run on the others up to 8, too.
const RANKS: [usize; 5] = [1, 2, 3, 5, 8];
/// A job that takes longer hangs.
const TIMEOUT: Duration = Duration::from_secs(240);

/// The launcher: `$NESL_MPIRUN`, else one on the path.
fn find() -> Option<PathBuf> {
    if let Some(given) = std::env::var_os("NESL_MPIRUN") {
        return Some(PathBuf::from(given));
    }
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    ["mpirun", "mpiexec"]
        .iter()
        .find_map(|name| folders.iter().map(|folder| folder.join(name)).find(|candidate| candidate.is_file()))
}

/// Whether the launcher is Open MPI's, which needs to be told that more ranks than processors are meant.
fn is_open_mpi(launcher: &PathBuf) -> bool {
    let output = Command::new(launcher).arg("--version").output();
    output.is_ok_and(|output| {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.contains("Open MPI") || text.contains("OpenRTE") || text.contains("prte")
    })
}

/// Runs the jobs and prints a summary.
pub fn run_all() -> ExitCode {
    let Some(launcher) = find() else {
        if std::env::var("NESL_REQUIRE_MPI").is_ok_and(|value| value == "1") {
            println!("no MPI launcher found, but NESL_REQUIRE_MPI=1\n0 passed, 1 failed");
            return ExitCode::FAILURE;
        }
        println!("no MPI launcher found: skipped\n0 passed, 0 failed");
        return ExitCode::SUCCESS;
    };
    let open_mpi = is_open_mpi(&launcher);
    let (mut passed, mut failed) = (0, 0);
    let mut count = |name: &str, outcome: Result<(), String>| match outcome {
        Ok(()) => passed += 1,
        Err(problem) => {
            println!("{name}: {problem}");
            failed += 1;
        }
    };
    let most = std::env::var("NESL_RANKS_MOST").ok().and_then(|text| text.parse().ok()).unwrap_or(usize::MAX);
    for ranks in RANKS.into_iter().filter(|&ranks| ranks <= most) {
        let started = Instant::now();
        let outcome = run(&launcher, open_mpi, ranks, None).and_then(|job| {
            print!("{}", job.out);
            if job.success { Ok(()) } else { Err(format!("failed\n{}", job.err)) }
        });
        count(&format!("{ranks} ranks"), outcome);
        println!("{ranks} ranks took {:.1} s", started.elapsed().as_secs_f64());
    }
    count("a panic ends the job", panic_ends_the_job(&launcher, open_mpi));
    count("another MPI's launcher is refused", other_launchers_are_refused());
    println!("{passed} passed, {failed} failed");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A rank that panics takes the others with it, and says why.
fn panic_ends_the_job(launcher: &PathBuf, open_mpi: bool) -> Result<(), String> {
    let job = run(launcher, open_mpi, 3, Some("NESL_RANKS_PANIC"))?;
    if !job.success && job.err.contains("a panic that was asked for") && job.err.contains("the job ends") {
        Ok(())
    } else {
        Err(format!("success {}\n{}{}", job.success, job.out, job.err))
    }
}

/// A process whose launcher counts more ranks than MPI sees does not start to compute.
fn other_launchers_are_refused() -> Result<(), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command.env("PMI_SIZE", "4").stdin(Stdio::null());
    let job = finish(allowing_root(&mut command))?;
    let said = job.err.contains("the launcher started 4 ranks, but MPI sees 1");
    if said && !job.success { Ok(()) } else { Err(format!("success {}\n{}{}", job.success, job.out, job.err)) }
}

/// What became of a job.
struct Job {
    success: bool,
    out: String,
    err: String,
}

/// Settings with which Open MPI runs as root.
fn allowing_root(command: &mut Command) -> &mut Command {
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
}

/// Runs one job, perhaps with a variable set.
fn run(launcher: &PathBuf, open_mpi: bool, ranks: usize, variable: Option<&str>) -> Result<Job, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(launcher);
    if open_mpi {
        command.args(["--oversubscribe", "--bind-to", "none"]);
    }
    allowing_root(&mut command)
        .args(["-n", &ranks.to_string()])
        .arg(program)
        .envs(variable.map(|name| (name, "1")))
        .env("OMPI_MCA_mpi_yield_when_idle", "1")
        .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
        .env("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe")
        .env("MPIEXEC_TIMEOUT", TIMEOUT.as_secs().to_string())
        .stdin(Stdio::null());
    finish(&mut command)
}

/// Runs a command to its end, or to the end of our patience.
fn finish(command: &mut Command) -> Result<Job, String> {
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| format!("{}: {error}", command.get_program().to_string_lossy()))?;
    let out = reader(child.stdout.take());
    let err = reader(child.stderr.take());
    let success = watch(&mut child)?;
    let text = |reader: std::thread::JoinHandle<String>| reader.join().unwrap_or_default();
    Ok(Job { success, out: text(out), err: text(err) })
}

/// Waits for a job, but not forever; whether it succeeded.
fn watch(child: &mut Child) -> Result<bool, String> {
    let deadline = Instant::now() + TIMEOUT + Duration::from_secs(5);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status.success()),
            Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(10)),
            Ok(None) => {
                // The ranks die with their launcher.
                child.kill().map_err(|error| error.to_string())?;
                return Err("hangs".to_owned());
            }
            Err(error) => return Err(error.to_string()),
        }
    }
}

/// Collects what a job writes while it runs, so that it never waits for a full pipe.
fn reader(pipe: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // What was read before an error is still worth showing.
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
