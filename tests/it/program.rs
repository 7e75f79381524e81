//! Runs the built program in a folder of its own.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// A folder that goes away with its owner.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("synclint-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a folder for the test");
        Folder(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().expect("below the folder")).expect("a folder for the file");
        std::fs::write(&path, text).expect("the file can be written");
        path
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, &[], b"")
    }

    /// With a folder inside as the working folder.
    pub fn run_below(&self, below: &str, arguments: &[&str]) -> Ran {
        let mut command = synclint();
        command.args(arguments).current_dir(self.0.join(below));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        wait(command.spawn().expect("synclint starts"))
    }

    pub fn run_with(&self, arguments: &[&str], variables: &[(&str, &str)], input: &[u8]) -> Ran {
        let mut command = synclint();
        command.args(arguments).current_dir(&self.0).envs(variables.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("synclint starts");
        // A program that does not read its input may be gone already.
        let _ = child.stdin.take().expect("it is piped").write_all(input);
        wait(child)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What a run printed; one that takes too long is ended, with the exit code -1.
pub fn wait(child: Child) -> Ran {
    const PATIENCE: Duration = Duration::from_secs(20);
    let id = child.id();
    let (finished, waiting) = std::sync::mpsc::channel::<()>();
    let watch = std::thread::spawn(move || {
        if waiting.recv_timeout(PATIENCE) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
            let _ = Command::new("kill").arg("-9").arg(id.to_string()).status();
        }
    });
    let ran = Ran::from(child.wait_with_output().expect("synclint ends"));
    drop(finished);
    watch.join().expect("the watch ends");
    ran
}

pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Ran {
        Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Ran {
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| {
            panic!("no JSON: {error}\nexit {}\n{}\n{}", self.code, self.stdout, self.stderr);
        })
    }
}

/// The program, deaf to the environment the tests run in.
pub fn synclint() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_synclint"));
    for name in ["SYNCLINT_FORMAT", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE", "CI_PROJECT_DIR"] {
        command.env_remove(name);
    }
    for name in ["NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "LC_ALL", "LC_CTYPE", "COLUMNS"] {
        command.env_remove(name);
    }
    command.env("LANG", "C.UTF-8");
    command
}
