//! What is seen to hold before slicing: not which verdict a program has, which others find, too, but that nothing is left for them.

use std::path::Path;
use std::process::Command;

/// How many places each check has, and at how many of them it was seen to hold.
fn places(file: &str, checks: &str) -> Vec<(String, u64, u64)> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/c/checks").join(file);
    let mut proviso = Command::new(env!("CARGO_BIN_EXE_proviso"));
    let output = proviso.args(["verify", "--check", checks, "--json", "-"]).arg(file).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let (json, verdict) = text.trim_end().rsplit_once('\n').unwrap();
    assert_eq!(verdict, "TRUE");
    let json: serde_json::Value = serde_json::from_str(json).unwrap();
    let of = |check: &serde_json::Value| {
        let number = |name: &str| check[name].as_u64().unwrap();
        (check["name"].as_str().unwrap().to_owned(), number("places"), number("discharged"))
    };
    json["checks"].as_array().unwrap().iter().map(of).collect()
}

#[test]
fn all_of_it() {
    let found = places("held_callbacks.c", "address,null");
    assert!(found.iter().map(|(_, places, _)| places).sum::<u64>() > 100, "{found:?}");
    for (name, places, held) in found {
        assert_eq!(held, places, "{name}");
    }
}

/// A pointer that walks through an object stays within it behind each access, and is not null there, so that what lies before where it started
/// keeps what it leads to.
#[test]
fn behind_walks() {
    let found = places("held_walks.c", "address");
    let [(_, places, held)] = found[..] else { panic!("{found:?}") };
    assert!(places - held <= 3, "{held} of {places}: what is open is the first access of each walk");
}

/// Strings up to their null bytes and arrays of any size up to their ends; open are what strides say of ends and copies of strings.
#[test]
fn behind_ends() {
    let found = places("reaches.c", "address");
    let [(_, places, held)] = found[..] else { panic!("{found:?}") };
    assert!(held > 60 && places - held <= 6, "{held} of {places}");
}

/// What comes after calls that print in known formats; open is some of what the models do themselves.
#[test]
fn behind_output() {
    for (name, places, held) in places("held_output.c", "address,shift,bounds") {
        assert!(
            places > 0 && if name == "address" { held > 300 } else { held == places },
            "{name}: {held} of {places}"
        );
    }
}
