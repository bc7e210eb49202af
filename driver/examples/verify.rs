use driver::report::Answer;
use driver::{Config, Task};

pub fn main() -> std::io::Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("product.c");
    let text = "extern int __VERIFIER_nondet_int(void);
        void reach_error(void) {}
        int main(void) {
            int a = __VERIFIER_nondet_int(), b = __VERIFIER_nondet_int();
            if (a > 0 && a < 10 && a * b == 42) reach_error();
        }";
    std::fs::write(&file, text)?;
    let task = Task { properties: vec!["unreach-call".into()], ..Task::new([file]) };
    let outcome = driver::verify(&task, &Config::default()).expect("the program compiles");
    let Answer::False(violation) = &outcome.report.answer else { panic!("{}", outcome.report.verdict_line()) };
    for input in &violation.trace.as_ref().expect("the violation replays").inputs {
        println!("{} = {}", input.source(), input.shown);
    }
    Ok(())
}
