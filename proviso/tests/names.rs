//! The outputs of all commands use names of the source. They contain neither temporaries nor names of library models.

mod words;

use std::path::Path;
use std::process::Command;
use words::internal_word;

/// Runs the command in a folder. Returns its standard output and standard error.
fn said(folder: &Path, args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_proviso"));
    let output =
        command.current_dir(folder).args(args).args(["--color", "never"]).output().expect("the command starts");
    let said = [output.stdout, output.stderr].concat();
    String::from_utf8(said).expect("the output is text")
}

/// The run as data in a page.
fn data(page: &str) -> &str {
    let (_, data) = page.split_once("<script type=\"application/json\" id=\"data\">").expect("the page has data");
    data.split_once("</script>").expect("a script ends").0
}

/// Conditions with `&&` and `||`, results of calls, formatted output, `errno`, literals, a list, and a `switch`.
const PROGRAM: &str = "#include <errno.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
    struct node { int value; struct node *next; };\nstatic int counter;\n\
    static int total(const struct node *n) { int s = 0; for (; n; n = n->next) s += n->value; return s; }\n\
    static struct node *push(struct node *head, int v) {\n    struct node *n = malloc(sizeof *n);\n    if (!n) exit(1);\n\
    n->value = v;\n    n->next = head;\n    return n;\n}\nint main(int argc, char **argv) {\n\
    struct node *l = 0;\n    char buf[8];\n\
    for (int i = 1; i < argc && i < 3; i++) {\n        long v = strtol(argv[i], 0, 10);\n        if (errno || v > 9) return 2;\n\
    l = push(l, (int)v);\n        counter++;\n    }\n\
    if (fgets(buf, sizeof buf, stdin) && strchr(buf, 'x')) printf(\"%d %s\\n\", counter, buf);\n\
    switch (argc) { case 1: puts(\"none\"); break; default: printf(\"%d\\n\", total(l)); }\n\
    return counter > 1 || argc == 2 ? total(l) : 0;\n}\n";

#[test]
fn outputs_of_all_commands_have_names_of_the_source() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    std::fs::write(folder.join("p.c"), PROGRAM).expect("the folder is writable");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect(name);
    let verify = ["verify", "p.c", "--timeout", "8", "--explain", "--report", "r.html", "--sarif", "r.sarif"];
    let mut texts = vec![
        ("verify", said(folder, &verify)),
        ("slice", said(folder, &["slice", "p.c", "-c", "total"])),
        ("slice --stats", said(folder, &["slice", "p.c", "-c", "total", "--json", "s.json", "--stats"])),
        ("deps", said(folder, &["deps", "p.c", "p.c:20", "-c", "total"])),
        ("testgen", said(folder, &["testgen", "p.c", "-o", "suite", "--timeout", "8", "--json", "t.json"])),
    ];
    texts.push(("the page", data(&read("r.html")).to_owned()));
    texts.extend(["r.sarif", "s.json", "t.json", "suite/goals.txt"].map(|name| (name, read(name))));
    for (name, text) in &texts {
        assert!(!text.is_empty(), "{name}");
        // Results name the linked models, and have counters of the engine.
        let text = text.split("\"models\":").next().unwrap_or_default();
        let word = internal_word(text);
        let line = text.lines().find(|line| word.is_some_and(|word| line.contains(word))).unwrap_or_default();
        assert_eq!(word, None, "{name}: {:.300}", line);
    }
    let goals = read("suite/goals.txt");
    for condition in [": i < argc && i < 3:", ": !(i < argc && i < 3):", "counter > 1"] {
        assert!(goals.contains(condition), "{condition}: {goals}");
    }
    let page = read("r.html");
    for text in ["i \\u003c argc && i \\u003c 3", "n->value = v", "l = push(l, ", "printf(…)"] {
        assert!(data(&page).contains(text), "{text}");
    }
}

/// The parameter whose address is taken has the text of a pointer.
#[test]
fn pointers_in_calls_have_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = "#include <stdlib.h>\nstruct node { int value; struct node *next; };\n\
        static int find(struct node *head, int v) {\n    struct node **p = &head;\n    while (*p) {\n\
        if ((*p)->value == v) return 10 / (v - 7);\n        p = &(*p)->next;\n    }\n    return 0;\n}\n\
        int main(void) {\n    struct node *n = malloc(sizeof *n);\n    n->value = 7;\n    n->next = 0;\n\
        return find(n, 7);\n}\n";
    std::fs::write(folder.path().join("p.c"), program).expect("the folder is writable");
    let text = said(folder.path(), &["verify", "p.c", "--first", "--timeout", "20", "--trace", "full"]);
    assert!(text.contains("find(head = block #1, v = 7)"), "{text}");
}
