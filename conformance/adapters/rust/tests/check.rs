//! The agent holds: `runlock check` breaks no clause of it.

use std::process::Command;

#[test]
fn the_agent_holds() {
    let runlock = std::env::var("RUNLOCK").unwrap_or("runlock".into());
    let target = format!("cmd:{}", env!("CARGO_BIN_EXE_adapter"));
    let results = concat!(env!("CARGO_TARGET_TMPDIR"), "/runlock-results");
    let ran = Command::new(runlock)
        .args(["check", &target, "--examples", "60", "--jobs", "1", "-o", results])
        .output()
        .expect("runlock is on the PATH, or RUNLOCK names it");
    assert!(ran.status.success(), "{}{}", text(&ran.stdout), text(&ran.stderr));
}

fn text(raw: &[u8]) -> String {
    String::from_utf8_lossy(raw).into_owned()
}
