//! What launchers say of a job beside what its ranks say: paragraphs between lines of dashes, long and about
//! themselves.
//!
//! Whoever starts a job reads its standard error through [`Remarks`]: what ranks wrote goes on as it is, and so does
//! what a launcher says that is not known here, such as why it cannot start. Its obituaries are kept back; [`Death`] is
//! what is in them. Hydra, the launcher of MPICH, writes its own to the standard output, where nothing else is touched
//! ([`Remarks::of_output`]).

/// The rank that ended a job by dying.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Death {
    /// Which, where the launcher says so: of those that were started with it.
    pub rank: Option<usize>,
    /// Which of those that were started at once: 1 for the first, more for those that came later.
    pub job: usize,
    /// The machine it was on, where the launcher says so.
    pub machine: Option<String>,
    /// The signal that it died of, where the launcher is sure.
    pub signal: Option<i32>,
}

impl Death {
    /// The same with the number that a rank has among all, where others came later: behind so many, as many.
    pub fn among(&self, started: &[(usize, usize)]) -> Death {
        let before = match self.job {
            0 | 1 => Some(0),
            job => started.get(job - 2).map(|&(before, _)| before),
        };
        Death { rank: self.rank.and_then(|rank| Some(before? + rank)), ..self.clone() }
    }
}

/// Lines that are a frame: Open MPI writes 74 dashes, MPICH 83 equals signs, hwloc 76 asterisks.
const SHORTEST_FRAME: usize = 60;

/// What is in paragraphs that say nothing of a job: the library that looks at the hardware has doubts about it.
const DOUBTS: [&str; 3] =
    ["* hwloc ", "hwloc has encountered what looks like an error", "hwloc received invalid information"];

/// How paragraphs begin that say of a job what its ranks have said themselves, or what [`Death`] says.
const OBITUARIES: [&str; 7] = [
    "Primary job terminated normally, but",
    CHILD,
    "MPI_ABORT was invoked on rank",
    "noticed that process rank",
    "An MPI communication peer process has unexpectedly disconnected",
    "detected that one or more processes exited with non-zero status",
    HYDRA,
];

/// What is in paragraphs that say that a rank cannot be reached. Where it has died that is no news, where a network
/// does not let it through it is all that anybody will hear.
const UNREACHED: [&str; 1] = ["Open MPI failed to TCP connect to a peer MPI process"];

/// What is in lines that say so outside of frames: `[NODE][[JOB],RANK][FILE:LINE:FUNCTION] recv(17) failed: …` of the
/// files in which Open MPI moves bytes.
const CUT_OFF: &str = "/opal/mca/btl/";

/// How a paragraph begins that says which of the jobs it is that has ended, of those that were started later.
const CHILD: &str = "Child job ";

/// What hydra says of a rank that has died: a paragraph in a frame, and then these lines.
const HYDRA: &str = "BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES";
const HYDRA_AFTERWARDS: [&str; 3] = [
    "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: ",
    "This typically refers to a problem with your application",
    "Please see the FAQ page for debugging suggestions",
];

/// Lines outside of frames that only speak of such paragraphs, and those of libraries of a launcher about what they do
/// without: memory of other processes that a container keeps from them (Open MPI sends messages another way then),
/// files that cannot be waited for, devices. What stands before them in the line is the name of the process.
const ASIDES: [&str; 11] = [
    "sent help message",
    "orte_base_help_aggregate",
    "prte_base_help_aggregate",
    "killing job...",
    ": application called MPI_Abort(",
    ": Forwarding signal ",
    "] Read -1, expected ",
    "] Write -1, expected ",
    "[warn] Epoll ",
    "[warn] epoll",
    "hwloc/",
];

/// The standard error of a launcher and its ranks, or their standard output, taken apart.
#[derive(Debug, Default)]
pub struct Remarks {
    /// Whether it is the standard output.
    is_output: bool,
    /// The start of a line that could become a frame or an aside.
    line: Vec<u8>,
    /// Whether the start of the current line has gone on already.
    started: bool,
    /// The lines of a paragraph from its first frame on.
    paragraph: Option<Vec<u8>>,
    /// Paragraphs and lines that are news only if no obituary follows.
    doubtful: Vec<u8>,
    /// There has been an obituary.
    is_over: bool,
    /// Which of the jobs an obituary is about.
    job: usize,
    death: Option<Death>,
}

impl Remarks {
    /// Those in the standard output: hydra's obituary, and nothing else.
    pub fn of_output() -> Remarks {
        Remarks { is_output: true, ..Remarks::default() }
    }

    /// Takes more of the text; gives what is to be shown of it now.
    pub fn read(&mut self, text: &[u8]) -> Vec<u8> {
        let mut shown = Vec::new();
        for piece in text.split_inclusive(|&byte| byte == b'\n') {
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                self.end_line(&mut shown);
            } else if self.started || (self.paragraph.is_none() && !self.may_be_remark(&self.line)) {
                // What cannot become a remark any more need not wait for the end of its line.
                self.started = true;
                shown.append(&mut self.line);
            }
        }
        shown
    }

    /// Whether there are paragraphs that an obituary would explain. It comes soon or never.
    pub fn is_in_doubt(&self) -> bool {
        !self.doubtful.is_empty()
    }

    /// Those paragraphs, where none has come.
    pub fn doubtful(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.doubtful)
    }

    /// What was kept back and is no obituary, at the end of the text.
    pub fn rest(&mut self) -> Vec<u8> {
        let mut shown = self.doubtful();
        shown.append(&mut self.paragraph.take().unwrap_or_default());
        shown.append(&mut self.line);
        shown
    }

    /// The death that the launcher has told of.
    pub fn death(&self) -> Option<&Death> {
        self.death.as_ref()
    }

    fn end_line(&mut self, shown: &mut Vec<u8>) {
        let line = std::mem::take(&mut self.line);
        let is_whole = !std::mem::take(&mut self.started);
        let is_frame = is_whole && is_frame(&line);
        let may_be_remark = is_whole && self.may_be_remark(&line);
        match &mut self.paragraph {
            None if is_frame && may_be_remark => self.paragraph = Some(line),
            None => {
                let text = String::from_utf8_lossy(&line);
                if may_be_remark && !self.is_output && text.contains(CUT_OFF) {
                    self.doubt(&line);
                } else if !may_be_remark || !self.is_aside(&text) {
                    shown.extend_from_slice(&line);
                }
            }
            Some(paragraph) => {
                let is_second = paragraph.iter().filter(|&&byte| byte == b'\n').count() == 1;
                paragraph.extend_from_slice(&line);
                if self.is_output && is_second && !String::from_utf8_lossy(&line).contains(HYDRA) {
                    shown.append(paragraph);
                    self.paragraph = None;
                } else if is_frame {
                    self.end_paragraph(shown);
                }
            }
        }
    }

    /// Whether a line that begins so may turn out to be a frame or an aside: those begin with a bracket, or with a
    /// name.
    fn may_be_remark(&self, start: &[u8]) -> bool {
        let is_start_of = |word: &str| start.starts_with(word.as_bytes()) || word.as_bytes().starts_with(start);
        let signs = start.strip_suffix(b"\n").unwrap_or(start);
        let is_all = |sign: u8| signs.iter().all(|&byte| byte == sign);
        let is_afterwards = self.death.is_some() && HYDRA_AFTERWARDS.into_iter().any(is_start_of);
        if self.is_output {
            return is_all(b'=') || is_afterwards;
        }
        is_afterwards
            || b"-=*".iter().copied().any(is_all)
            || start.starts_with(b"[")
            || ["mpirun", "hwloc/", "Abort("].into_iter().any(is_start_of)
    }

    /// Whether a line speaks of an obituary, or of what libraries do without.
    fn is_aside(&mut self, line: &str) -> bool {
        if let Some(death) = &mut self.death
            && HYDRA_AFTERWARDS.iter().any(|aside| line.starts_with(aside))
        {
            // Of several ranks that it has ended itself hydra adds up the signals here, and of some other above.
            let signal = line.split_once("(signal ").and_then(|(_, rest)| rest.split_once(')')?.0.parse().ok());
            if signal.is_some() && signal != death.signal {
                death.signal = None;
            }
            return true;
        }
        !self.is_output && ASIDES.iter().any(|aside| line.contains(aside))
    }

    /// Keeps back what is news only if no obituary follows, and none has come.
    fn doubt(&mut self, text: &[u8]) {
        if !self.is_over {
            self.doubtful.extend_from_slice(text);
        }
    }

    fn end_paragraph(&mut self, shown: &mut Vec<u8>) {
        let paragraph = self.paragraph.take().unwrap_or_default();
        let text = String::from_utf8_lossy(&paragraph);
        // Launchers break lines where it suits them.
        let words: Vec<&str> = text.split_whitespace().filter(|word| *word != "=").collect();
        let text = words.join(" ");
        if let Some((_, job)) = text.split_once(CHILD) {
            self.job = job.split_whitespace().next().and_then(|job| job.parse().ok()).unwrap_or(1);
        }
        if DOUBTS.iter().any(|doubt| text.contains(doubt)) {
            return;
        }
        if UNREACHED.iter().any(|unreached| text.contains(unreached)) {
            self.doubt(&paragraph);
        } else if !OBITUARIES.iter().any(|obituary| text.contains(obituary)) {
            shown.extend_from_slice(&paragraph);
        } else {
            self.is_over = true;
            self.doubtful.clear();
            if self.death.is_none() {
                self.death = death(&text).map(|death| Death { job: self.job.max(1), ..death });
            }
        }
    }
}

/// Whether a line is one of dashes, equals signs or asterisks.
fn is_frame(line: &[u8]) -> bool {
    let line = line.trim_ascii_end();
    line.len() >= SHORTEST_FRAME && b"-=*".iter().any(|&sign| line.iter().all(|&byte| byte == sign))
}

/// The death that an obituary tells of:
/// `mpirun noticed that process rank 1 with PID 7 on node n exited on signal 9 (Killed).` or
/// `BAD TERMINATION … EXIT CODE: 9`, the code being the signal where the next line tells of one.
fn death(text: &str) -> Option<Death> {
    let after = |mark: &str| text.split_once(mark).and_then(|(_, rest)| rest.split_whitespace().next());
    if let Some(signal) = after("exited on signal ") {
        return Some(Death {
            job: 1,
            rank: after("process rank ").and_then(|rank| rank.parse().ok()),
            machine: after("on node ").map(str::to_owned),
            signal: Some(signal.trim_end_matches('.').parse().ok()?),
        });
    }
    let code: i32 = after("EXIT CODE: ")?.parse().ok()?;
    // A rank that ends by itself has a code from 1 to 2, or that of an abort; hydra gives a signal without the 128 of
    // shells.
    (code > 2 && code < 32).then(|| Death {
        rank: None,
        job: 1,
        machine: after("RUNNING AT ").map(str::to_owned),
        signal: Some(code),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: &str = "--------------------------------------------------------------------------\n";

    /// What is shown of a text that comes in pieces of a size.
    fn shown(text: &str, size: usize) -> (String, Option<Death>) {
        shown_by(Remarks::default(), text, size)
    }

    fn shown_by(mut remarks: Remarks, text: &str, size: usize) -> (String, Option<Death>) {
        let mut shown: Vec<u8> = text.as_bytes().chunks(size).flat_map(|piece| remarks.read(piece)).collect();
        shown.extend(remarks.rest());
        (String::from_utf8(shown).unwrap(), remarks.death().cloned())
    }

    #[test]
    fn obituaries_are_kept_back_and_understood() {
        let text = format!(
            "one\n{FRAME}Primary job  terminated normally, but 1 process returned\na non-zero exit code. Per user-direction, the \
             job has been aborted.\n{FRAME}two\n{FRAME}mpirun noticed that process rank 2 with PID 0 on node vm exited on \
             signal 9 (Killed).\n{FRAME}[vm:1] 1 more process has sent help message help-mpi-api.txt / mpi-abort\nthree"
        );
        let death = Death { rank: Some(2), job: 1, machine: Some("vm".to_owned()), signal: Some(9) };
        for size in [1, 7, 4096] {
            assert_eq!(shown(&text, size), ("one\ntwo\nthree".to_owned(), Some(death.clone())), "pieces of {size}");
        }
        let wrapped =
            format!("{FRAME}prterun noticed that process rank 10 with PID 5 on node n exited on\nsignal 11.\n{FRAME}");
        assert_eq!(shown(&wrapped, 9).1.map(|death| (death.rank, death.signal)), Some((Some(10), Some(11))));
        let equals = format!("{}\n", "=".repeat(83));
        let hydra = format!(
            "{equals}=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   PID 4 RUNNING AT n\n=   EXIT CODE: 9\n{equals}\
             YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)\n"
        );
        let death = Death { rank: None, job: 1, machine: Some("n".to_owned()), signal: Some(9) };
        assert_eq!(shown(&hydra, 5), (String::new(), Some(death)));
    }

    #[test]
    fn ranks_that_came_later_have_numbers_behind_the_others() {
        let text = format!(
            "{FRAME}Child job 3 terminated normally, but 1 process returned\na non-zero exit code.\n{FRAME}{FRAME}mpirun \
             noticed that process rank 1 with PID 0 on node vm exited on signal 9 (Killed).\n{FRAME}"
        );
        let death = shown(&text, 7).1.unwrap();
        assert_eq!((death.rank, death.job), (Some(1), 3));
        assert_eq!(death.among(&[(2, 2), (4, 4)]).rank, Some(5));
        assert_eq!(death.among(&[]).rank, None, "nobody has said where they are");
        assert_eq!(Death { job: 1, ..death }.among(&[(2, 2)]).rank, Some(1));
    }

    #[test]
    fn of_an_output_the_obituary_of_hydra_alone_is_kept_back() {
        let equals = format!("{}\n", "=".repeat(83));
        let hydra = |signal: i32| {
            format!(
                "one\n\n{equals}=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   PID 4 RUNNING AT n\n=   EXIT CODE: \
                 9\n{equals}YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Terminated (signal {signal})\nThis typically \
                 refers to a problem with your application.\nPlease see the FAQ page for debugging suggestions\n"
            )
        };
        let death = |signal| Death { rank: None, job: 1, machine: Some("n".to_owned()), signal };
        for size in [1, 7, 4096] {
            let read = |text: &str| shown_by(Remarks::of_output(), text, size);
            assert_eq!(read(&hydra(9)), ("one\n\n".to_owned(), Some(death(Some(9)))));
            // A rank that was aborted, with one that hydra killed then: 6 | 9.
            assert_eq!(read(&hydra(15)), ("one\n\n".to_owned(), Some(death(None))));
            for text in [
                format!("{equals}a table\n{equals}{equals}"),
                format!("{FRAME}MPI_ABORT was invoked on rank\n{FRAME}"),
                "[1, 2]\nmpirun: Forwarding signal \nPlease see\n=".to_owned(),
                format!("{equals}= BAD"),
            ] {
                assert_eq!(read(&text), (text, None), "pieces of {size}");
            }
        }
    }

    #[test]
    fn what_libraries_do_without_is_kept_back() {
        let stars = format!("{}\n", "*".repeat(76));
        let text = format!(
            "one\n[vm:01234] Read -1, expected 80000, errno = 1\n[vm:01234] Read -1, expected 524288, errno = 38\n\
             mpirun: Forwarding signal 10 to job\n\
             Abort(101) on node 0 (rank 0 in comm 0): application called MPI_Abort(MPI_COMM_WORLD, 101) - process 0\n\
             [warn] Epoll ADD(1) on fd 0 failed. Old events were 0; read change was 1 (add): Operation not permitted\n\
             {stars}* hwloc 2.9.0 received invalid information from the operating system.\n*\n* Failed with: intersection\n\
             {stars}hwloc/linux: Ignoring PCI device with non-16bit domain.\ntwo\n"
        );
        for size in [1, 5, 4096] {
            assert_eq!(shown(&text, size), ("one\ntwo\n".to_owned(), None), "pieces of {size}");
        }
    }

    #[test]
    fn that_a_rank_cannot_be_reached_is_shown_unless_it_has_died() {
        let unreached = format!(
            "{FRAME}WARNING: Open MPI failed to TCP connect to a peer MPI process.  This\nshould not happen.\n\n  Local host: \
             vm\n  Error:      Connection refused (111)\n{FRAME}"
        );
        let obituary = format!(
            "{FRAME}mpirun noticed that process rank 1 with PID 0 on node vm exited on signal 9 (Killed).\n{FRAME}"
        );
        let cut_off = "[vm][[32164,1],1][../../opal/mca/btl/tcp/btl_tcp.c:559:mca_btl_tcp_recv_blocking] recv(17) failed: \
                       Connection reset by peer (104)\n";
        for size in [1, 7, 4096] {
            let text = format!("one\n{cut_off}{unreached}two\n");
            assert_eq!(shown(&text, size).0, format!("one\ntwo\n{cut_off}{unreached}"));
            for text in [
                format!("{unreached}{cut_off}{unreached}one\n{obituary}"),
                format!("one\n{obituary}{cut_off}{unreached}"),
            ] {
                assert_eq!(shown(&text, size).0, "one\n");
            }
        }
        let mut remarks = Remarks::default();
        assert_eq!(remarks.read(unreached.as_bytes()), b"");
        assert!(remarks.is_in_doubt());
        assert_eq!(remarks.doubtful(), unreached.as_bytes());
        assert!(!remarks.is_in_doubt());
    }

    #[test]
    fn everything_else_is_shown() {
        let slots = format!("{FRAME}There are not enough slots available in the system\n{FRAME}");
        let cut_off = format!("{FRAME}mpirun noticed that process rank 1\n");
        let read = "it says: [x] Read -1, expected 2\n";
        for text in [
            "",
            "a",
            "a\nb",
            "-",
            "*",
            "--\n--\n",
            "[1, 2]\n",
            "mpirun\n",
            "Read -1, expected 2\n",
            read,
            &slots,
            &cut_off,
            FRAME,
        ] {
            for size in [1, 3, 4096] {
                assert_eq!(shown(text, size), (text.to_owned(), None), "pieces of {size}");
            }
        }
    }

    #[test]
    fn a_line_without_an_end_is_shown_at_once() {
        let mut remarks = Remarks::default();
        assert_eq!(remarks.read(b"Name? "), b"Name? ");
        assert_eq!(remarks.read(b"----\n"), b"----\n");
        assert_eq!(remarks.read(b"---"), b"");
        assert_eq!(remarks.read(b"> "), b"---> ");
        let mut remarks = Remarks::of_output();
        assert_eq!(remarks.read(b"  "), b"  ");
        assert_eq!(remarks.read(b"Name? "), b"Name? ");
        assert_eq!(remarks.read(b"\n=> "), b"\n=> ");
    }
}
