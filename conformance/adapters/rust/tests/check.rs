//! The agent holds: `interlock check` breaks no clause of it.

use std::process::Command;

#[test]
fn the_agent_holds() {
    let interlock = std::env::var("INTERLOCK").unwrap_or("interlock".into());
    let target = format!("cmd:{}", env!("CARGO_BIN_EXE_adapter"));
    let results = concat!(env!("CARGO_TARGET_TMPDIR"), "/interlock-results");
    let ran = Command::new(interlock)
        .args(["check", &target, "--examples", "60", "--jobs", "1", "-o", results])
        .output()
        .expect("interlock is on the PATH, or INTERLOCK names it");
    assert!(ran.status.success(), "{}{}", text(&ran.stdout), text(&ran.stderr));
}

fn text(raw: &[u8]) -> String {
    String::from_utf8_lossy(raw).into_owned()
}
