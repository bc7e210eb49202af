//! The HTML report in a browser (headless Chromium): the tests click and press keys as a reader would.

use std::path::Path;
use std::process::Command;

/// Verifies a program with `--report`. Returns the text of the page.
fn report(program: &str, options: &[&str], folder: &Path) -> String {
    let (file, page) = (folder.join("p.c"), folder.join("p.html"));
    std::fs::write(&file, program).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_proviso"))
        .args(["verify", "--report", "p.html"])
        .args(options.iter().all(|option| !option.ends_with("p.c")).then_some("p.c"))
        .args(options)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(page.exists(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::read_to_string(page).unwrap()
}

/// Runs `script` in the page. Returns the arguments of its calls of `say`, and the errors of the page's own code.
fn in_browser(page: &str, script: &str, folder: &Path) -> Vec<String> {
    let catcher = "<script>addEventListener('error', e => say('error: ' + e.message)); const said = [];\n\
                   function say(text) { said.push(text); }</script>";
    let probe = format!(
        "<script>setTimeout(async () => {{ try {{ {script} }} catch (e) {{ say('error: ' + e); }}\n\
         document.body.replaceChildren(Object.assign(document.createElement('pre'), {{id: 'said', textContent: said.join('\\n')}}));\n\
         }}, 100);</script></body>"
    );
    let page = page.replacen("<body>", &format!("<body>{catcher}"), 1);
    let at = page.rfind("</body>").expect("a body");
    let path = folder.join("probe.html");
    std::fs::write(&path, format!("{}{probe}{}", &page[..at], &page[at + "</body>".len()..])).unwrap();
    let profile = folder.join("chromium");
    let output = Command::new("chromium")
        // Some containers cannot create the sandbox of the graphics process.
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-gpu-sandbox", "--no-first-run"])
        .arg("--disable-background-networking")
        .args(["--disable-component-update", "--disable-sync", "--window-size=1400,900", "--virtual-time-budget=5000"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(["--dump-dom", &format!("file://{}", path.display())])
        .output()
        .expect("chromium runs (scripts/setup-deps installs it)");
    let dom = String::from_utf8_lossy(&output.stdout);
    let said = dom.split_once("<pre id=\"said\">").and_then(|(_, rest)| rest.split_once("</pre>"));
    let Some((said, _)) = said else {
        panic!("the page did not answer:\n{}", String::from_utf8_lossy(&output.stderr));
    };
    said.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").lines().map(str::to_owned).collect()
}

/// The page shows the variables of each frame of the stack.
#[test]
fn the_call_of_an_error_function_is_in_the_frame_of_the_caller() {
    let folder = tempfile::tempdir().unwrap();
    let program = "extern void abort(void);\nvoid reach_error(void) { abort(); }\n\
        int main(void) { int a = 6; if (a == 6) reach_error(); return 0; }\n";
    let page = report(program, &["--property", "unreach-call"], folder.path());
    let data = page.split_once("id=\"data\">").unwrap().1.split_once("</script>").unwrap().0;
    let data: serde_json::Value = serde_json::from_str(data).unwrap();
    let last = data["violations"][0]["trace"].as_array().and_then(|trace| trace.last()).unwrap();
    assert_eq!(
        (&last["step"], &last["depth"], &last["function"]),
        (&"error".into(), &0.into(), &"main".into()),
        "{last}"
    );
}

const VIOLATED: &str = "\
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
struct point { int x, y; };
int limit = 10; /* <script>alert(\"no\")</script> <!-- */
static int twice(int n) { return 2 * n; }
int main(void) {
    struct point p = {0, 0};
    p.x = __VERIFIER_nondet_int();
    for (int i = 0; i < 3; i++)
        p.y = p.y + twice(i);
    int unused = p.y * 3;
    if (p.x > limit && p.x + p.y == 20)
        reach_error();
    return 0;
}
";

#[test]
fn a_counterexample_is_stepped_through() {
    let folder = tempfile::tempdir().unwrap();
    let page = report(VIOLATED, &["--property", "unreach-call"], folder.path());
    assert!(!page.contains("http://") || !page.contains("src=\"http"), "nothing is loaded from a network");
    let script = r##"
        const text = selector => document.querySelector(selector)?.textContent ?? "none";
        const key = key => document.dispatchEvent(new KeyboardEvent("keydown", {key}));
        say(text("#verdict"));
        say(text(".row.now .n") + " " + text(".note.violation"));
        say("checked: " + text(".row.error .c.violated"));
        say(text("#values").includes("p.x14") ? "p.x is 14" : text("#values"));
        say("at the end: " + document.getElementById("next").disabled);
        key("Home");
        say("at the start: " + document.getElementById("back").disabled + " line " + text(".row.now .n"));
        key("ArrowRight");
        document.getElementById("all").click();
        const steps = document.querySelectorAll("#steps .step").length;
        say("all steps: " + (steps > 15));
        document.querySelectorAll("#steps .step")[steps - 1].click();
        say("clicked: " + text(".row.now .n"));
        const slider = document.getElementById("slider");
        slider.value = 0;
        slider.dispatchEvent(new Event("input"));
        say("slid: " + text("#position"));
        const tab = name => [...document.querySelectorAll("#tabs button")].find(b => b.textContent === name).click();
        tab("Summary");
        say(text("#view").includes("__VERIFIER_nondet_int()") ? "inputs" : "no inputs");
        tab("Control flow");
        say("dark: " + (document.getElementById("theme").click(), document.documentElement.dataset.theme));
        say("sliced away: " + [...document.querySelectorAll(".row.cut .n")].map(n => n.textContent).join());
    "##;
    let said = in_browser(&page, script, folder.path());
    assert_eq!(
        said,
        [
            "FALSE(unreach-call)",
            "13 reach_error is called",
            "checked: ✗",
            "p.x is 14",
            "at the end: true",
            "at the start: true line 8",
            "all steps: true",
            "clicked: 13",
            "slid: step 1 of 23",
            "inputs",
            "dark: dark",
            "sliced away: 11,14",
        ]
    );
}

#[test]
fn a_proof_shows_invariants_and_control_flow() {
    let folder = tempfile::tempdir().unwrap();
    let program = "\
extern unsigned __VERIFIER_nondet_uint(void);
extern void reach_error(void);
int main(void) {
    unsigned n = __VERIFIER_nondet_uint(), i = 0, twice = 0;
    while (i < n) {
        i++;
        twice += 2;
    }
    if (twice != 2 * i)
        reach_error();
    return 0;
}
";
    let page = report(program, &["--property", "unreach-call"], folder.path());
    let script = r##"
        const text = selector => document.querySelector(selector)?.textContent ?? "none";
        say(text("#verdict"));
        say(text(".note.invariant").startsWith("invariant: ") ? "an invariant" : "none");
        [...document.querySelectorAll("#tabs button")].find(b => b.textContent === "Control flow").click();
        await null;
        say(document.querySelectorAll("#canvas g.block").length > 4 ? "blocks" : "no blocks");
        say("loop heads: " + document.querySelectorAll("#canvas g.block.head").length);
        document.querySelector("#canvas g.block.error").dispatchEvent(new MouseEvent("click"));
        say("error at line " + text(".row.now .n"));
        [...document.querySelectorAll("#tabs button")].find(b => b.textContent === "Summary").click();
        await null;
        say("decided: " + text("svg.turns rect.decided title").replace(/\d[\d.,]*/g, "N"));
    "##;
    let said = in_browser(&page, script, folder.path());
    let turn = "decided: invariants: N to N s, N operations, N solver calls: proof";
    assert_eq!(said, ["TRUE", "an invariant", "blocks", "loop heads: 1", "error at line 10", turn]);
}

/// Each violation has a counterexample. The page shows the first one until the reader selects another.
#[test]
fn each_violation_is_stepped_through() {
    let folder = tempfile::tempdir().unwrap();
    let program = "\
extern int __VERIFIER_nondet_int(void);
int main(void) {
    int n = __VERIFIER_nondet_int(), p[2] = {0, 0};
    p[n == 7 ? 2 : 1] = 1;
    return n == 9 ? n + 0x7fffffff : p[1];
}
";
    let page = report(program, &["--check", "address,signed-integer-overflow"], folder.path());
    let script = r##"
        const all = selector => [...document.querySelectorAll(selector)];
        const tab = name => all("#tabs button").find(b => b.textContent === name).click();
        say(all(".row.error .n").map(n => n.textContent).join());
        say("first: " + document.querySelector(".row.now .n").textContent + ", n = " + /mainn(\d)/.exec(document.getElementById("values").textContent)?.[1]);
        const choice = document.getElementById("violation");
        say(choice.options.length + " to choose from");
        choice.value = "1";
        choice.dispatchEvent(new Event("change"));
        await null;
        say("second: " + document.querySelector(".row.now .n").textContent + ", n = " + /mainn(\d)/.exec(document.getElementById("values").textContent)?.[1]);
        say("chosen: " + document.getElementById("violation").value);
        tab("Summary");
        await null;
        say(all("#view h2").map(h => h.textContent).filter(t => /^Violations|^Inputs/.test(t)).join("; "));
    "##;
    let said = in_browser(&page, script, folder.path());
    let expected = [
        "4,5",
        "first: 4, n = 7",
        "2 to choose from",
        "second: 5, n = 9",
        "chosen: 1",
        "Violations; Inputs (signed-integer-overflow, p.c:5)",
    ];
    assert_eq!(said, expected);
}

/// Without a violation, the page shows the place where execution starts.
#[test]
fn a_page_opens_where_execution_starts() {
    let folder = tempfile::tempdir().unwrap();
    let program = "\
static int half(int n) { return n / 2; }

void reach_error(void);
int quarter(int n) {
    int x = half(half(n));
    if (x > n && n > 0)
        reach_error();
    return x;
}
";
    let page = report(program, &["--entry", "quarter", "--property", "unreach-call"], folder.path());
    let script = r##"
        say(document.querySelector(".row.now .n").textContent);
        [...document.querySelectorAll("#tabs button")].find(b => b.textContent === "Control flow").click();
        await null;
        const select = document.getElementById("function");
        say(select.selectedOptions[0].textContent);
        select.value = "";
        select.dispatchEvent(new Event("change"));
        say([...document.querySelectorAll("#canvas g.block text")].map(t => t.textContent).sort().join());
    "##;
    assert_eq!(in_browser(&page, script, folder.path()), ["4", "quarter", "half,quarter"]);
}

/// For a property with several subproperties, each place shows the subproperty that is checked there, and the result.
#[test]
fn checks_of_memory_are_marked() {
    let folder = tempfile::tempdir().unwrap();
    let program = "\
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
int main(void) {
    int n = __VERIFIER_nondet_int();
    if (n < 1 || n > 8)
        return 0;
    int *a = malloc(n * sizeof *a);
    if (!a)
        return 0;
    for (int i = 0; i < n; i++)
        a[i] = i;
    int r = a[n - 1];
    free(a);
    return r;
}
";
    let script = r##"
        say(document.querySelector("#verdict").textContent);
        for (const sign of document.querySelectorAll(".row .c[title]")) {
            say(sign.parentElement.dataset.line + " " + sign.textContent + " " + sign.title);
        }
    "##;
    let marks = |program: &str| {
        let page = report(program, &["--property", "valid-memsafety"], folder.path());
        in_browser(&page, script, folder.path())
    };
    let proved = marks(program);
    assert_eq!(proved[0], "TRUE");
    for mark in ["11 ✓ valid-deref: proved", "12 ✓ valid-deref: proved", "13 ✓ valid-free: proved"] {
        assert!(proved.iter().any(|said| said == mark), "{mark}: {proved:?}");
    }
    let violated = marks(&program.replace("i < n", "i <= n"));
    assert_eq!(violated[0], "FALSE(valid-deref)");
    for mark in ["11 ✗ valid-deref: violated", "13 · valid-free: not checked"] {
        assert!(violated.iter().any(|said| said == mark), "{mark}: {violated:?}");
    }
}

/// The page shows the checks of a line, the explored code, and the number of states by function.
#[test]
fn an_exploration_is_shaded_and_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let program = "\
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
static int half(int n) { return n / 2; }
int main(void) {
    int x = __VERIFIER_nondet_int(), y = 0;
    if (x < 0 || x > 7)
        return 0;
    for (int i = 0; i < 3; i++)
        y += half(x);
    if (y > 9)
        reach_error();
    if (y > 20)
        y = half(y);
    if (y == 1)
        reach_error();
    return 0;
}
";
    let page = report(program, &["--property", "unreach-call", "--analysis", "symex"], folder.path());
    let script = r##"
        const text = selector => document.querySelector(selector)?.textContent ?? "none";
        const lines = selector => [...document.querySelectorAll(selector)].map(row => row.dataset.line).join();
        const tab = name => [...document.querySelectorAll("#tabs button")].find(b => b.textContent === name).click();
        say(text("#verdict"));
        say("checked: " + [...document.querySelectorAll(".row .c.proved")].map(sign => sign.parentElement.dataset.line + sign.textContent));
        say("not reached: " + lines(".row.missed"));
        say(lines(".row.came").includes("10") ? "explored" : lines(".row.came"));
        tab("Summary");
        await null;
        say(text("#view").includes("no execution reaches the others") ? "coverage" : text("#view"));
        tab("States");
        await null;
        const states = document.getElementById("states");
        say("pixels: " + (document.querySelectorAll("#pixels rect").length > 3));
        states.selectedIndex = [...states.options].findIndex(option => option.textContent === "main");
        states.dispatchEvent(new Event("change"));
        say("states: " + (document.querySelectorAll("#canvas g.block").length > 3));
        document.querySelector("#canvas g.block:last-child").dispatchEvent(new MouseEvent("click"));
        say("chosen: " + document.querySelectorAll("#canvas .block.now").length);
    "##;
    let said = in_browser(&page, script, folder.path());
    let expected = [
        "TRUE",
        "checked: 11✓,15✓",
        // Line 15 counts as reached, because symbolic execution checks the feasibility of its branch only at the error.
        "not reached: 11,13",
        "explored",
        "coverage",
        "pixels: true",
        "states: true",
        "chosen: 1",
    ];
    assert_eq!(said, expected);
}

/// Each variable and object is shown once, with its content, even if several pointers point to it.
#[test]
fn memory_has_its_values() {
    let folder = tempfile::tempdir().unwrap();
    let program = "\
#include <stdlib.h>
#include <string.h>
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
struct node { int value; struct node *next; char name[4]; };
static void set(int *ptr, int value) {
    *ptr = value;
    ptr[1] = value + 1;
}
static struct node *push(struct node *list, int value) {
    struct node *new = malloc(sizeof *new);
    if (!new)
        abort();
    memset(new, 0, sizeof *new);
    new->value = value;
    new->next = list;
    strcpy(new->name, \"abc\");
    return new;
}
int main(void) {
    int pair[2] = {1, 2};
    set(pair, 5);
    struct node *list = push(NULL, __VERIFIER_nondet_int());
    list = push(list, 7);
    struct node *second = list->next;
    free(list);
    if (second->value == 3)
        reach_error();
    return pair[0];
}
";
    let file = folder.path().join("p.c");
    let page =
        report(program, &["--property", "unreach-call", "--slicing", "off", file.to_str().unwrap()], folder.path());
    let script = r##"
        const files = [...document.querySelectorAll("#files button")].map(button => button.textContent);
        say(files.filter(name => name === "p.c").length + " p.c");
        document.getElementById("all").click();
        const rows = () => [...document.querySelectorAll("#values tr")].map(row => [...row.children].map(cell => cell.textContent).join(" = "));
        say(rows().join("; "));
        const steps = [...document.querySelectorAll("#steps .step")];
        steps.find(step => step.textContent.startsWith("7pair[0]")).click();
        say([...document.querySelectorAll("#values .frame")].map(frame => frame.textContent).join() + ": " + rows().join("; "));
        steps.findLast(step => step.textContent.startsWith("16")).click();
        say([...document.querySelectorAll("#values .frame")].map(frame => frame.textContent).join() + ": " + rows().join("; "));
    "##;
    let said = in_browser(&page, script, folder.path());
    let second = "block #1.name = \"abc\"; block #1.next = NULL; block #1.value = 3";
    let expected = [
        "1 p.c".to_owned(),
        format!("pair[0] = 5; pair[1] = 6; list = block #2; second = block #1; {second}; block #2 = freed"),
        "in set,in main: ptr = pair; value = 5; pair[0] = 5; pair[1] = 2".to_owned(),
        format!(
            "in push,in main,on the heap: list = block #1; value = 7; new = block #2; pair[0] = 5; pair[1] = 6; list = block #1; \
             {second}; block #2.name = \"\"; block #2.next = block #1; block #2.value = 7"
        ),
    ];
    assert_eq!(said, expected);
}

/// The trace has no steps for returns of library functions and ends of scopes.
#[test]
fn values_are_those_of_the_function_that_is_executed() {
    let folder = tempfile::tempdir().unwrap();
    let program = "\
#include <stdlib.h>
#include <string.h>
extern int __VERIFIER_nondet_int(void);
static char *copy(const char *from) {
    char *to = malloc(8);
    if (to)
        strcpy(to, from);
    return to;
}
int main(void) {
    char *text = copy(\"abc\");
    if (!text)
        return 1;
    int at = __VERIFIER_nondet_int();
    free(text);
    return at == 3 && text[at];
}
";
    let page = report(program, &["--property", "valid-memsafety"], folder.path());
    let script = r##"
        say([...document.querySelectorAll("#values .frame")].map(frame => frame.textContent).join());
        document.getElementById("all").click();
        say("steps nowhere: " + [...document.querySelectorAll("#steps .step .at")].filter(at => !at.textContent).length);
    "##;
    assert_eq!(in_browser(&page, script, folder.path()), ["in main,on the heap", "steps nowhere: 0"]);
}

#[test]
fn the_call_of_an_entry_and_what_is_assumed_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let program = "\
struct node { int value; struct node *next; };
static int divided(int by, int limit) {
    int *p = &by;
    int left = *p - limit;
    return 10 / left;
}
int first(struct node *n, int at) {
    int limit = n->next->value;
    if (limit == 3 && at > 1)
        return divided(at, limit);
    return 0;
}
";
    let page = report(program, &["--entry", "first", "--check", "integer-divide-by-zero"], folder.path());
    let script = r##"
        const rows = () => [...document.querySelectorAll("#call tr")].map(row => [...row.children].map(cell => cell.textContent).filter(text => text).join(" "));
        say(rows().join("; "));
        document.getElementById("all").click();
        const frames = () => [...document.querySelectorAll("#values .frame")].map(frame =>
            frame.textContent + ": " + [...frame.nextSibling.querySelectorAll("td:first-child")].map(name => name.textContent).join(" "));
        say(frames().join("; "));
        document.dispatchEvent(new KeyboardEvent("keydown", {key: "Home"}));
        say(frames().join("; "));
        [...document.querySelectorAll("#tabs button")].find(button => button.textContent === "Summary").click();
        const text = document.getElementById("view").textContent;
        say(text.indexOf("Assumed") < text.indexOf("Violation") && text.includes("pointers in the arguments of first"));
        say(text.includes("Called as"));
    "##;
    assert_eq!(
        in_browser(&page, script, folder.path()),
        [
            "call first(n = &object1, at = 3); object1 struct node, 16 bytes .next = &object2; object2 struct node, 16 bytes .value = 3",
            "in divided: by limit p left; in first: limit at",
            "in first: ",
            "true",
            "true",
        ]
    );
}

/// Each violated line is marked as violated, also where a library function or a check at another column fails. Results
/// of proofs are only on pages of proofs.
#[test]
fn violated_lines_are_marked() {
    let folder = tempfile::tempdir().unwrap();
    let program = "#include <stdlib.h>\n#include <string.h>\nint __VERIFIER_nondet_int(void);\n\
        int main(void) {\n    char line[4] = {0}, *copy = malloc(4);\n    int n = __VERIFIER_nondet_int(), sum = 0;\n    \
        for (int i = 0; i < 3; i++)\n        sum += line[i];\n    if (n == 5)\n        memcpy(copy, line, n);\n    \
        if (n == 6)\n        return sum + 1 / (n - 6);\n    if (n == 7)\n        return copy[n];\n    return 0;\n}\n";
    let page = report(program, &["--check", "default,leak"], folder.path());
    let script = "for (const line of [4, 5, 8, 10, 12, 14]) {\n\
        say(`${line} ${document.querySelector(`.row[data-line=\"${line}\"] .c`).textContent}`);\n}\n\
        say(document.getElementById('legend').textContent.includes('invariant'));";
    let said = in_browser(&page, script, folder.path());
    assert_eq!(said, ["4 ", "5 ✗", "8 ✓", "10 ✗", "12 ✗", "14 ✗", "false"]);
}

/// A finding that a longer buffer rules out has its advice on the page.
#[test]
fn advice_on_a_finding_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let program = "int get(const int *p, unsigned n) {\n    int sum = 0;\n    for (unsigned i = 0; i < n; i++)\n        \
        sum ^= p[i];\n    return sum;\n}\n";
    let page = report(program, &["--entry", "get", "--check", "address"], folder.path());
    let script = "open('Summary'); say(document.getElementById('help').textContent);\n\
        say(document.querySelector('.note.violation').textContent);\n\
        open('Counterexample'); await new Promise(done => setTimeout(done, 50));\n\
        say(document.getElementById('values').textContent);";
    let said = in_browser(&page, script, folder.path()).join("\n");
    assert_eq!(said.matches("__CPROVER_assume(__CPROVER_r_ok(p, n * sizeof *p));").count(), 2, "{said}");
    assert!(said.contains("in get") && !said.contains("in <"), "{said}");
}
