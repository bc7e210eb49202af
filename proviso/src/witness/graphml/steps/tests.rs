use super::*;

/// Returns a document with this content of the graph, and with these nodes and edges.
fn graph(about: &str, nodes: &str, edges: &str) -> String {
    format!("<graphml><graph>{about}{nodes}{edges}</graph></graphml>")
}

fn data(pairs: &[(&str, &str)]) -> String {
    pairs.iter().map(|(key, value)| format!("<data key=\"{key}\">{value}</data>")).collect()
}

fn violation(edges: &[&[(&str, &str)]]) -> String {
    let about = data(&[
        ("witness-type", "violation_witness"),
        ("sourcecodelang", "C"),
        ("programfile", "p.c"),
        ("specification", "CHECK( init(main()), LTL(G ! call(reach_error())) )"),
        ("architecture", "32bit"),
    ]);
    let mut nodes = format!("<node id=\"q0\">{}</node>", data(&[("entry", "true")]));
    for number in 1..edges.len() {
        nodes += &format!("<node id=\"q{number}\"/>");
    }
    nodes += &format!("<node id=\"q{}\">{}</node>", edges.len(), data(&[("violation", "true")]));
    let edges: String = edges
        .iter()
        .enumerate()
        .map(|(n, pairs)| format!("<edge source=\"q{n}\" target=\"q{}\">{}</edge>", n + 1, data(pairs)))
        .collect();
    graph(&about, &nodes, &edges)
}

/// Returns the kinds of the waypoints of a witness, with their lines.
fn kinds(text: &str) -> Vec<String> {
    let told = read(text).unwrap();
    let Content::Segments(segments) = told.entry.content else { panic!() };
    let all = segments.iter().flat_map(|s| &s.segment);
    all.map(|item| {
        let Waypoint { kind, action, loose, .. } = &item.waypoint;
        let lines = loose.as_ref().unwrap().lines;
        let action = if action == "follow" { "" } else { action };
        format!("{action}{kind}{}", lines.map_or_else(String::new, |(first, last)| format!(" {first}-{last}")))
    })
    .collect()
}

#[test]
fn steps_become_waypoints() {
    let text = violation(&[
        &[("enterFunction", "main"), ("createThread", "0")],
        &[("startline", "4"), ("assumption", "\\result == 3;"), ("assumption.resultfunction", "f")],
        &[("startline", "5"), ("sourcecode", "x = 1")],
        &[("startline", "5"), ("assumption", "x == (1); y == (2);")],
        &[("startline", "6"), ("endline", "7"), ("control", "condition-false")],
        &[("startline", "8"), ("enterFunction", "g")],
        &[("startline", "2"), ("returnFrom", "g")],
        &[("startline", "9")],
    ]);
    let wanted =
        ["function_return 4-4", "behind 5-5", "branching 6-7", "function_enter 8-8", "returned 2-2", "target 9-9"];
    assert_eq!(kinds(&text), wanted);
    let told = read(&text).unwrap();
    assert_eq!(told.entry.metadata.task.data_model, "ILP32");
    assert_eq!(told.left_out, ["the format has no key createThread"]);
    let Content::Segments(segments) = &told.entry.content else { panic!() };
    let assumed = segments[1].segment[0].waypoint.loose.as_ref().unwrap().assumed.as_deref();
    assert_eq!(assumed, Some("(x == (1)) && (y == (2))"));
    assert_eq!(kinds(&violation(&[&[("startline", "5"), ("control", "condition-true")]])), ["branching 5-5", "target"]);
    assert_eq!(kinds(&violation(&[&[]])), ["target"]);
}

/// An edge to a sink must be avoided, even if the sink is nearer to the violation.
#[test]
fn sinks_are_avoided() {
    let text = violation(&[&[("startline", "5"), ("control", "condition-true")], &[("startline", "9")]]);
    let sink = format!(
        "<node id=\"s\">{}</node><edge source=\"q0\" target=\"s\">{}</edge><edge source=\"s\" target=\"q2\"/></graph>",
        data(&[("sink", "true")]),
        data(&[("startline", "5"), ("control", "condition-false")]),
    );
    assert_eq!(kinds(&text.replace("</graph>", &sink)), ["avoidbranching 5-5", "branching 5-5", "target 9-9"]);
}

#[test]
fn what_is_not_understood_is_named() {
    let wrong = |edge: &[(&str, &str)]| read(&violation(&[edge])).err().unwrap();
    assert!(wrong(&[("startline", "many")]).contains("`many` is no value of startline"));
    assert!(wrong(&[("startline", "7"), ("endline", "6")]).contains("no lines 7 to 6"));
    assert!(wrong(&[("startline", "0")]).contains("no lines 0 to 0"));
    assert!(wrong(&[("control", "maybe")]).contains("`maybe` is no value of control"));
    assert!(wrong(&[("threadId", "2")]).contains("several threads"));
    assert!(wrong(&[("assumption", "\\result == 1")]).contains("does not name the function"));
    assert!(wrong(&[("assumption", "(x == 1; y == 2)")]).contains("is no condition"));
    let good = violation(&[&[("startline", "5")]]);
    for (from, to, said) in [
        ("violation_witness", "no_witness", "`no_witness` is no value of witness-type"),
        ("<data key=\"witness-type\">violation_witness</data>", "", "it has no witness-type"),
        ("<data key=\"violation\">true</data>", "", "none of its nodes is a violation"),
        ("<data key=\"entry\">true</data>", "", "none of its nodes is the entry"),
        ("<data key=\"entry\">true", "<data key=\"entry\">perhaps", "`perhaps` is no value of entry"),
        ("target=\"q1\"", "target=\"q7\"", "`q7`, which does not exist"),
        ("32bit", "sixteen", "`sixteen` is no architecture"),
        (">C<", ">Java<", "a program in Java"),
        ("graphml", "svg", "not <graphml>"),
        ("source=\"q0\" target=\"q1\"", "source=\"q1\" target=\"q1\"", "there is no path"),
    ] {
        let text = good.replace(from, to);
        assert_ne!(text, good);
        let why = read(&text).err().unwrap();
        assert!(why.contains(said), "{why}");
    }
}

/// Other tools write numbered keys, defaults and entities.
#[test]
fn keys_are_known_by_their_names() {
    let text = "<?xml version=\"1.0\"?><!DOCTYPE graphml><graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">
        <key id=\"d0\" attr.name=\"witness-type\" for=\"graph\"/><key id=\"d1\" attr.name=\"invariant\" for=\"node\"/>
        <key id=\"originfile\" for=\"edge\"><default>&lt;command-line&gt;</default></key>
        <graph><data key=\"d0\">correctness_witness</data><data key=\"programfile\">a/p.c</data>
        <node id=\"a\"><data key=\"entry\">true</data></node>
        <node id=\"b\"><data key=\"d1\">x &lt; 3 &amp;&amp; y</data><data key=\"invariant.scope\">f</data></node>
        <edge source=\"a\" target=\"b\"><data key=\"startline\">3</data><data key=\"enterLoopHead\">true</data></edge>
        <edge source=\"b\" target=\"a\"><data key=\"startline\">4</data><data key=\"control\">condition-true</data></edge>
        </graph></graphml>";
    let Content::Invariants(all) = read(text).unwrap().entry.content else { panic!() };
    let [InvariantItem { invariant }] = all.as_slice() else { panic!() };
    assert_eq!((invariant.value.as_str(), invariant.kind.as_str()), ("x < 3 && y", "loop_invariant"));
    assert_eq!((invariant.location.file_name.as_str(), invariant.location.line), ("a/p.c", 4));
    let loose = invariant.loose.as_ref().unwrap();
    assert_eq!((loose.entered.as_slice(), loose.left.as_slice()), (&[(3, 3)][..], &[((4, 4), true)][..]));
}

/// Reading a damaged file returns a witness or an error, and never panics.
#[test]
fn cut_and_changed_files_are_survived() {
    let good = violation(&[
        &[("startline", "4"), ("assumption", "\\result == 3"), ("assumption.resultfunction", "f")],
        &[("startline", "6"), ("endline", "7"), ("control", "condition-false")],
        &[("startline", "9")],
    ]);
    assert!(read(&good).is_ok());
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = move |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let mut refused = 0;
    for round in 0..4000 {
        let mut bytes = good.clone().into_bytes();
        match round % 4 {
            0 => bytes.truncate(random(good.len())),
            1 => {
                let (at, piece) = (random(good.len()), good.as_bytes());
                let from = random(good.len());
                bytes.splice(at..at, piece[from..(from + 30).min(good.len())].iter().copied());
            }
            _ => {
                for _ in 0..1 + random(4) {
                    let at = random(bytes.len());
                    bytes[at] = b"<>/\"=&0q;\xff-"[random(11)];
                }
            }
        }
        refused += usize::from(read(&String::from_utf8_lossy(&bytes)).is_err());
    }
    assert!((1000..4000).contains(&refused), "{refused}");
    let deep = format!("<graphml><graph>{}", "<data>".repeat(100_000));
    assert!(read(&deep).is_err());
    let laughs =
        "<!DOCTYPE l [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;\">]><graphml>&b;</graphml>";
    assert!(read(laughs).is_err());
}
