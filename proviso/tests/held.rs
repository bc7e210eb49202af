//! The number of checks that the static pre-analysis proves before slicing. The verdicts do not depend on it, because
//! the analyses prove the rest.

use std::path::Path;
use std::process::Command;

/// For each check: its name, the number of its places, and the number of places that the pre-analysis proved.
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

/// After an access through a pointer that traverses an object, the pointer is in bounds and not null. So a write
/// through it does not change the part of the object before its start.
#[test]
fn behind_walks() {
    let found = places("held_walks.c", "address");
    let [(_, places, held)] = found[..] else { panic!("{found:?}") };
    assert!(places - held <= 3, "{held} of {places}: what is open is the first access of each walk");
}

/// Accesses to strings up to their null bytes, and to arrays of unknown size up to their ends. The open places need
/// facts about strides and about copies of strings.
#[test]
fn behind_ends() {
    let found = places("reaches.c", "address");
    let [(_, places, held)] = found[..] else { panic!("{found:?}") };
    assert!(held > 60 && places - held <= 6, "{held} of {places}");
}

/// An array of `count ? count : 1` elements has at least `count` elements.
#[test]
fn up_to_counts_with_a_default() {
    let found = places("held_default_count.c", "address");
    let [(_, places, held)] = found[..] else { panic!("{found:?}") };
    assert!(places > 10 && held == places, "{held} of {places}");
}

/// Checks after calls that print with constant formats. The open places are in the models.
#[test]
fn behind_output() {
    for (name, places, held) in places("held_output.c", "address,shift,bounds") {
        assert!(
            places > 0 && if name == "address" { held > 300 } else { held == places },
            "{name}: {held} of {places}"
        );
    }
}
