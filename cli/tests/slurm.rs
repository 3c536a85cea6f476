//! Under a real Slurm: the script of docs/cluster.md, `mpirun` in a job, and what is refused.
//!
//! A controller, a daemon and munge run for this test alone, on this machine, with everything of theirs in one folder.
//! That needs the packages and root; skipped without them, but with `NESL_REQUIRE_MPI=1` root must have the packages.
#![cfg(all(target_os = "linux", feature = "mpi"))]
#![allow(clippy::unwrap_used, reason = "a panic in a helper is a failed test")]

mod common;

use common::{Bench, OVERSUBSCRIBED, Ran, finish, launcher};
use std::fmt::Write as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What no daemon takes to start, nor any command here.
const GENEROUS: Duration = Duration::from_secs(60);

/// Daemons that are ended when this is dropped, in the reverse order.
struct Cluster {
    bench: Bench,
    daemons: Vec<Child>,
}

impl Drop for Cluster {
    fn drop(&mut self) {
        while let Some(mut daemon) = self.daemons.pop() {
            // In order, so that it ends what it has started.
            let _ = Command::new("kill").args(["-TERM", &daemon.id().to_string()]).status();
            let asked = Instant::now();
            while matches!(daemon.try_wait(), Ok(None)) {
                if asked.elapsed() > Duration::from_secs(5) {
                    let _ = daemon.kill();
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }
}

/// A program that may not be on the path of a user.
fn found(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from));
    folders.map(|folder| folder.join(name)).find(|path| path.is_file())
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|ran| ran.stdout.trim_ascii() == b"0")
}

impl Cluster {
    /// A cluster of this machine; none where it cannot be.
    fn start() -> Option<Cluster> {
        let programs = ["munged", "slurmctld", "slurmd", "srun", "sbatch", "sinfo"];
        let missing: Vec<&str> = programs.into_iter().filter(|name| found(name).is_none()).collect();
        if !is_root() || !missing.is_empty() {
            let is_required = std::env::var_os("NESL_REQUIRE_MPI").is_some_and(|value| value == "1");
            assert!(!is_root() || !is_required, "Slurm is required, but there is no {missing:?}");
            println!("skipped: needs root, and slurmctld, slurmd, slurm-client and munge");
            return None;
        }
        let mut cluster = Cluster { bench: Bench::new(), daemons: Vec::new() };
        cluster.configure();
        for folder in ["state", "spool", "munge"] {
            std::fs::create_dir(cluster.bench.path(folder)).unwrap();
        }
        assert!(Command::new("chmod").arg("0700").arg(cluster.bench.path("munge")).status().unwrap().success());
        let key: Vec<u8> = (0..1024u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        cluster.bench.write("munge/key", key);
        assert!(Command::new("chmod").arg("0600").arg(cluster.bench.path("munge/key")).status().unwrap().success());
        let option = |name: &str, file: &str| format!("--{name}={}", cluster.bench.path(file).display());
        let own = [
            ("key-file", "key"),
            ("socket", "socket"),
            ("pid-file", "pid"),
            ("log-file", "log"),
            ("seed-file", "seed"),
        ];
        let mut options = vec!["--foreground".to_owned(), "--force".to_owned()];
        options.extend(own.map(|(name, file)| option(name, &format!("munge/{file}"))));
        cluster.daemon("munged", &options);
        let socket = cluster.bench.path("munge/socket");
        cluster.wait(|_| socket.exists(), "munged");
        cluster.daemon("slurmctld", &["-D".to_owned()]);
        // Without control groups; old versions cannot name none, and need not find those that they name.
        for plugin in ["disabled", "cgroup/v1"] {
            cluster.bench.write("cgroup.conf", format!("CgroupPlugin={plugin}\n"));
            cluster.daemon("slurmd", &["-D".to_owned()]);
            if cluster.wait(|cluster| cluster.says("sinfo", &["-h", "-o", "%T"]).contains("idle"), "slurmd") {
                return Some(cluster);
            }
            cluster.daemons.pop();
        }
        let logs = ["slurmctld.log", "slurmd.log"].map(|log| std::fs::read_to_string(cluster.bench.path(log)));
        panic!("slurmd does not start: {logs:#?}");
    }

    /// Writes `slurm.conf`.
    fn configure(&self) {
        let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        let name = name.trim().split('.').next().unwrap();
        let folder = self.bench.folder.path().display();
        let [controller, daemon] = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let port = |listener: &TcpListener| listener.local_addr().unwrap().port();
        let mut text = format!(
            "ClusterName=test\nSlurmctldHost={name}(127.0.0.1)\nSlurmctldPort={}\nSlurmdPort={}\nSlurmUser=root\nSlurmdUser=root\n",
            port(&controller),
            port(&daemon)
        );
        for (key, file) in [
            ("StateSaveLocation", "state"),
            ("SlurmdSpoolDir", "spool"),
            ("SlurmctldPidFile", "slurmctld.pid"),
            ("SlurmdPidFile", "slurmd.pid"),
            ("SlurmctldLogFile", "slurmctld.log"),
            ("SlurmdLogFile", "slurmd.log"),
            ("AuthInfo", "munge/socket"),
        ] {
            let prefix = if key == "AuthInfo" { "socket=" } else { "" };
            writeln!(text, "{key}={prefix}{folder}/{file}").unwrap();
        }
        write!(
            text,
            "AuthType=auth/munge\nCredType=cred/munge\nProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nMpiDefault=none\n\
             SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nReturnToService=2\nSwitchType=switch/none\n\
             JobAcctGatherType=jobacct_gather/none\nSlurmdParameters=config_overrides\n\
             NodeName={name} NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN\n\
             PartitionName=all Nodes={name} Default=YES MaxTime=INFINITE State=UP\n"
        )
        .unwrap();
        self.bench.write("slurm.conf", text);
    }

    fn daemon(&mut self, name: &str, options: &[String]) {
        // Ends with this test, however that ends.
        let mut command = match found("setpriv") {
            Some(setpriv) => {
                let mut command = Command::new(setpriv);
                command.args(["--pdeathsig", "TERM"]).arg(found(name).unwrap());
                command
            }
            None => Command::new(found(name).unwrap()),
        };
        command.args(options).env("SLURM_CONF", self.bench.path("slurm.conf"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.daemons.push(command.spawn().unwrap());
    }

    /// Waits for something; false if the last daemon has ended meanwhile.
    fn wait(&mut self, mut is_done: impl FnMut(&Cluster) -> bool, what: &str) -> bool {
        let begun = Instant::now();
        while !is_done(self) {
            assert!(begun.elapsed() < GENEROUS, "{what} takes {GENEROUS:?}");
            if self.daemons.last_mut().is_some_and(|daemon| daemon.try_wait().is_ok_and(|ended| ended.is_some())) {
                return false;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        true
    }

    /// A command as a user of the cluster gives it, with `nesl` on the path.
    fn command(&self, name: &str, arguments: &[&str]) -> Command {
        let mut command = self.bench.command(Path::new("timeout"));
        command.arg(GENEROUS.as_secs().to_string()).arg(found(name).unwrap()).args(arguments);
        let binary = Path::new(env!("CARGO_BIN_EXE_nesl")).parent().unwrap();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(std::iter::once(binary.to_path_buf()).chain(std::env::split_paths(&path)));
        command.env("PATH", path.unwrap()).env("SLURM_CONF", self.bench.path("slurm.conf")).envs(OVERSUBSCRIBED);
        command
    }

    fn says(&self, name: &str, arguments: &[&str]) -> String {
        finish(&mut self.command(name, arguments), "").out
    }

    fn has_pmix(&self) -> bool {
        let known = self.srun(&["--mpi=list"]);
        format!("{}{}", known.out, known.err).lines().any(|line| line.trim() == "pmix")
    }

    fn srun(&self, arguments: &[&str]) -> Ran {
        // It says otherwise where a job has to wait for the end of another.
        finish(&mut self.command("srun", &[&["--quiet"], arguments].concat()), "")
    }

    /// What a script prints as a job, with options before those in it.
    fn sbatch(&self, options: &[&str], script: &str) -> String {
        self.bench.write("script.sh", script);
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let output = self.bench.path("output");
        // The tasks of an array add to it.
        let _ = std::fs::remove_file(&output);
        let mut command = self.command("sbatch", &["--wait", "--output"]);
        command.arg(&output).arg("--chdir").arg(root).args(options).arg(self.bench.path("script.sh"));
        let ran = finish(&mut command, "");
        let printed = std::fs::read_to_string(&output).unwrap_or_default();
        assert_eq!(ran.code, Some(0), "{ran:#?}\n{printed}");
        printed
    }
}

/// A script in docs/cluster.md.
fn documented(name: &str) -> String {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/cluster.md")).unwrap();
    let (_, rest) = page.split_once(&format!("```sh {name}\n")).unwrap();
    rest.split_once("```").unwrap().0.to_owned()
}

/// The clusters of this machine, one after another: nodes have its name.
static ONE_CLUSTER: Mutex<()> = Mutex::new(());

#[test]
fn jobs_of_slurm_are_ranks_or_are_refused() {
    if launcher().is_none() {
        return;
    }
    let _one = ONE_CLUSTER.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(cluster) = Cluster::start() else { return };
    cluster.bench.write("a.nesl", "sum([0:100000]);\n");
    let has_pmix = cluster.has_pmix();

    // One task, in a step or in a job, is a process like any other; so is each of an array.
    cluster.srun(&["-n1", "nesl", "run", "a.nesl"]).prints("4999950000\n");
    let alone = "#!/bin/sh\nnesl run examples/primes/primes.nesl -- 1000\n";
    assert_eq!(cluster.sbatch(&["--ntasks=2"], alone), "168\n");
    assert_eq!(cluster.sbatch(&["--ntasks=1", "--array=0-1", "--open-mode=append"], alone), "168\n168\n");

    // Tasks that do not know of each other are copies of the program: not without a word that says so.
    let refused =
        ["srun has started 2 tasks that do not know of each other", "srun --mpi=pmix nesl", "--engine threads"];
    for arguments in
        [&["run", "a.nesl"][..], &["run", "--ranks", "2", "a.nesl"], &["run", "--engine", "mpi", "a.nesl"], &["repl"]]
    {
        let ran = cluster.srun(&[&["--mpi=none", "-n2", "nesl"], arguments].concat());
        ran.fails(1, &refused);
        assert_eq!((ran.out.as_str(), ran.err.matches(refused[0]).count()), ("", 1), "{arguments:?}: {ran:#?}");
    }
    cluster
        .srun(&["--mpi=none", "-n2", "nesl", "run", "--engine", "threads", "a.nesl"])
        .prints("4999950000\n4999950000\n");
    let about = cluster.srun(&["--mpi=none", "-n2", "nesl", "about"]);
    assert_eq!(
        (about.code, about.out.matches("srun without MPI: srun has started 2 tasks").count()),
        (Some(0), 1),
        "{about:#?}"
    );

    // `mpirun` starts as many ranks as tasks were granted, and `--ranks` those that it says.
    let by_mpirun =
        "#!/bin/sh\nmpirun nesl run examples/primes/primes.nesl -- 1000\nnesl about --ranks 2 | grep '^ranks'\n";
    assert_eq!(cluster.sbatch(&["--ntasks=3"], by_mpirun), "168\nranks         2\n");
    if !has_pmix {
        println!("skipped: this Slurm has no PMIx");
        return;
    }
    cluster.srun(&["--mpi=pmix", "-n3", "nesl", "run", "a.nesl"]).prints("4999950000\n");
    let about = cluster.srun(&["--mpi=pmix", "-n2", "nesl", "about"]);
    assert!(about.out.contains("launcher      srun, with PMIx\nranks         2\n"), "{about:#?}");
    let options = ["--nodes=1", "--ntasks-per-node=2", "--cpus-per-task=1"];
    assert_eq!(cluster.sbatch(&options, &documented("slurm")), "78498\n");
    // Open MPI has no PMI-2, and says so; whatever an MPI has, there is one job or none.
    let other = cluster.srun(&["--mpi=pmi2", "-n2", "nesl", "run", "a.nesl"]);
    assert!(other.out == "4999950000\n" || (other.code != Some(0) && other.out.is_empty()), "{other:#?}");
}

/// What a job does that takes longer than it may: it waits, and prints how long it has.
const SLOW: &str = r#"
v = {float(i) / 7.0 : i in [0:50000]};

function work(v, n, wait) =
  if n == 0 then v
  else
    let ignore = shell_command(wait, "");
        _ignore = if rem(n, 10) == 0 then print_string(@n ++ "\n") else t
    in work({0.5 * (x + sin(x)) + 1.0 : x in v}, n - 1, wait);

function main(n, wait) : (int, [char]) -> (float, int) = let last = work(v, n, wait) in (sum(last), rand(1000000));
"#;

/// How long that takes beside what it computes, in quarters of a second; a job may take a minute.
const QUARTERS: &str = "260";

/// How it waits: Slurm signals commands of a program, too.
const WAIT: &str = "#!/bin/sh\ntrap '' USR1\nsleep 0.25\n";

#[test]
fn a_job_whose_time_is_over_is_requeued_and_ends_with_the_answer() {
    if launcher().is_none() {
        return;
    }
    let _one = ONE_CLUSTER.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(cluster) = Cluster::start() else { return };
    if !cluster.has_pmix() {
        println!("skipped: this Slurm has no PMIx");
        return;
    }
    cluster.bench.write("slow.nesl", SLOW);
    // Slurm counts minutes, and sends the signal up to a minute too early.
    let script = documented("requeue")
        .replace("--time=01:00:00 --signal=B:TERM@60", "--time=1 --signal=B:TERM@20 --ntasks=2")
        .replace("pages.nesl 100000", &format!("--threads 1 slow.nesl {QUARTERS} ./wait"));
    cluster.bench.write("wait", WAIT);
    assert!(Command::new("chmod").arg("+x").arg(cluster.bench.path("wait")).status().unwrap().success());
    assert!(script.contains("--time=1 ") && script.contains(&format!("slow.nesl {QUARTERS}")), "{script}");
    cluster.bench.write("script.sh", script);
    let folder = cluster.bench.folder.path().display().to_string();
    let arguments = ["--parsable", "--chdir", &folder, "--output", "out", "--error", "err", "script.sh"];
    let job = cluster.says("sbatch", &arguments);
    let (begun, mut state) = (Instant::now(), String::new());
    while !["COMPLETED", "FAILED", "TIMEOUT", "CANCELLED"].iter().any(|end| state.contains(&format!("JobState={end}")))
    {
        assert!(begun.elapsed() < 10 * GENEROUS, "the job does not end: {state}");
        std::thread::sleep(Duration::from_secs(1));
        state = cluster.says("scontrol", &["show", "job", job.trim()]);
    }
    let read = |name: &str| std::fs::read_to_string(cluster.bench.path(name)).unwrap_or_default();
    let (out, err) = (read("out"), read("err"));
    let alone = cluster.bench.nesl(&["run", "--threads", "1", "slow.nesl", QUARTERS, "true"]);
    println!("{:.0} s\n{err}", begun.elapsed().as_secs_f64());
    assert!(state.contains("JobState=COMPLETED") && !state.contains(" Restarts=0 "), "{state}\n{out}\n{err}");
    assert!(err.contains("saved in saves: "), "{err}");
    assert_eq!((alone.code, alone.out), (Some(0), out), "{err}");
}
