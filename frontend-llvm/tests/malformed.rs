//! Malformed bitcode is an error, and never crashes the process.

use frontend_llvm::{Error, Options, load};
use std::process::Command;

fn bitcode() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let (source, target) = (folder.path().join("a.c"), folder.path().join("a.bc"));
    let text = "struct s { int a; struct s *next; } g[2] = {{1, g}, {2, g + 1}}; int x = 3;\n\
                int f(struct s *p, double d) { switch (p->a) { case 1: return d; default: return x / 3; } }\n\
                int main(void) { int sum = 0; for (int i = 0; i < 2; i++) sum += f(&g[i], 1.5); return sum; }";
    std::fs::write(&source, text).unwrap();
    let status = Command::new("clang-19").args(["-c", "-emit-llvm", "-g", "-o"]).args([&target, &source]).status();
    assert!(status.unwrap().success());
    std::fs::read(target).unwrap()
}

/// Loads and lowers the data. Only a crash is a failure.
fn survive(data: &[u8], extension: &str) -> Result<(), Error> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("fuzzed.{extension}"));
    std::fs::write(&path, data).unwrap();
    let program = load(&Options { inputs: vec![path.into()], ..Options::default() })?.lower()?;
    cfa::validate::validate(&program).unwrap();
    Ok(())
}

#[test]
fn flipped_bits_and_cut_files() {
    let good = bitcode();
    survive(&good, "bc").unwrap();
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = move |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let mut rejected = 0;
    for round in 0..150 {
        let mut data = good.clone();
        if round % 5 == 0 {
            data.truncate(random(good.len()));
        } else {
            for _ in 0..1 + random(4) {
                let at = random(data.len());
                data[at] ^= 1 << random(8);
            }
        }
        rejected += usize::from(survive(&data, "bc").is_err());
    }
    assert!(rejected > 20);
}

#[test]
fn odd_files() {
    for (data, extension) in [
        (&b""[..], "bc"),
        (b"", "ll"),
        (b"\xde\xc0\x17\x0b", "bc"),
        (b"BC\xc0\xde", "bc"),
        (b"\x00\x01\x02", "ll"),
        (b"define void @main() { %a = add i32 %a, 1 ret void }", "ll"),
        (b"!0 = !{!0", "ll"),
    ] {
        assert!(survive(data, extension).is_err(), "{data:?}");
    }
}
