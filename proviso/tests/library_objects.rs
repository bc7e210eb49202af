//! Library functions that return pointers return objects, not addresses that may lead anywhere. So their calls keep the
//! facts of the static pre-analysis about other objects.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Functions, or parts of their results, with a statement that declares `p` and assigns it. The groups share a program.
const ROWS: &[&[(&str, &str)]] = &[
    &[
        ("asctime_r", "time_t t = time(0); char b[26], *p = asctime_r(gmtime(&t), b)"),
        ("getpwuid_s", "struct passwd *q = getpwuid(getuid()); char *p = q ? q->pw_dir : 0"),
        ("tmpfile", "FILE *p = tmpfile()"),
        ("strndup", "char *p = strndup(\"abc\", 2)"),
        ("textdomain", "char *p = textdomain(\"a\")"),
        ("tfind", "tsearch(\"a\", &root, order); void *p = tfind(\"a\", &root, order)"),
        ("memmem", "char *p = memmem(text, 9, \"ab\", 2)"),
        ("stpcpy", "char b[150], *p = stpcpy(b, text)"),
    ],
    &[
        ("asctime", "time_t t = time(0); char *p = asctime(gmtime(&t))"),
        ("getpwent", "struct passwd *p = getpwent()"),
        ("popen", "FILE *p = popen(\"a\", \"r\")"),
        ("strdup", "char *p = strdup(argv[0])"),
        ("ngettext", "char *p = ngettext(\"a\",\"b\",argc)"),
        ("tsearch", "void *p = tsearch(\"a\", &root, order)"),
        ("memchr", "char *p = memchr(text, 'a', 10)"),
        ("strcpy", "char b[50], *p = strcpy(b, text)"),
        ("fgetws", "wchar_t b[50], *p = fgetws(b, 50, stdin)"),
    ],
    &[
        ("strsignal", "char *p = strsignal(argc)"),
        ("getpwnam", "struct passwd *p = getpwnam(\"a\")"),
        ("freopen", "FILE *p = freopen(\"a\", \"r\", stdin)"),
        ("canonicalize_file_name", "char *p = canonicalize_file_name(\"a\")"),
        ("dgettext", "char *p = dgettext(\"a\",\"b\")"),
        ("hsearch", "hcreate(5); ENTRY e = {\"a\",0}; ENTRY *p = hsearch(e, ENTER)"),
        ("strpbrk", "char *p = strpbrk(text, \"abc\")"),
        ("mmap", "char *p = mmap(0, 100, 3, 0x22, -1, 0); if (p == MAP_FAILED) p = 0"),
        ("wcstok", "wchar_t b[] = L\"a,b\", *q, *p = wcstok(b, L\",\", &q)"),
    ],
    &[
        ("getutxent", "struct utmpx *p = getutxent()"),
        ("getutxline", "struct utmpx u = {.ut_line = \"a\"}, *p = getutxline(&u)"),
        ("strerror_r", "char b[50], *p = strerror_r(errno, b, sizeof b)"),
        ("getpwuid", "struct passwd *p = getpwuid(getuid())"),
        ("fdopen", "FILE *p = fdopen(5, \"r\")"),
        ("realpath", "char *p = realpath(\"a\", 0)"),
        ("gettext", "char *p = gettext(\"a\")"),
        ("ctermid", "char *p = ctermid(0)"),
        ("strstr", "char *p = strstr(text, \"a\")"),
        ("aligned_alloc", "char *p = aligned_alloc(16, 32)"),
        ("wcschr", "wchar_t *p = wcschr(L\"abc\", L'a')"),
    ],
    &[
        ("strerror", "char *p = strerror(errno)"),
        ("gmtime_r", "time_t t = time(0); struct tm b, *p = gmtime_r(&t, &b)"),
        ("fopen64", "FILE *p = fopen64(\"a\", \"r\")"),
        ("getcwd0", "char *p = getcwd(0, 0)"),
        ("dirname", "char b[] = \"a/b\", *p = dirname(b)"),
        ("ttyname", "char *p = ttyname(0)"),
        ("strrchr", "char *p = strrchr(argv[0], '/')"),
        ("reallocarray", "char *p = reallocarray(0, 3, argc)"),
        ("seed48", "unsigned short b[3] = {1,2,3}, *p = seed48(b)"),
    ],
    &[
        ("re_compile_pattern", "static struct re_pattern_buffer b; const char *p = re_compile_pattern(text, 3, &b)"),
        ("localeconv_s", "char *p = localeconv()->decimal_point"),
        ("localtime_r", "time_t t = time(0); struct tm b, *p = localtime_r(&t, &b)"),
        ("fopen", "FILE *p = fopen(\"a\", \"r\")"),
        ("getcwd", "char b[100], *p = getcwd(b, sizeof b)"),
        ("__xpg_basename", "char b[] = \"a/b\", *p = __xpg_basename(b)"),
        ("getlogin", "char *p = getlogin()"),
        ("strchr", "char *p = strchr(argv[0], 'a')"),
        ("calloc", "char *p = calloc(3, argc)"),
        ("initstate", "char b[64], *p = initstate(5, b, 64)"),
    ],
    &[
        ("localeconv", "struct lconv *p = localeconv()"),
        ("gmtime", "time_t t = time(0); struct tm *p = gmtime(&t)"),
        ("iconv_open", "char *p = iconv_open(\"a\", \"b\"); if (p == (void *)-1) p = 0"),
        ("getutxid", "struct utmpx u = {.ut_type = 2}, *p = getutxid(&u)"),
        ("nl_langinfo", "char *p = nl_langinfo(CODESET)"),
        ("readdir_s", "DIR *d = opendir(\"a\"); struct dirent *e = d ? readdir(d) : 0; char *p = e ? e->d_name : 0"),
        ("basename", "char b[] = \"a/b\", *p = (basename)(b)"),
        ("inet_ntop", "char b[50]; struct in_addr a = {5}; const char *p = inet_ntop(AF_INET,&a,b,50)"),
        ("lsearch", "size_t n = 9; char *p = lsearch(\"t\", text, &n, 1, order)"),
        ("fgets", "char b[50], *p = fgets(b, sizeof b, stdin)"),
        ("getaddrinfo", "struct addrinfo *p; if (getaddrinfo(\"a\",0,0,&p)) p = 0"),
    ],
    &[
        ("setlocale", "char *p = setlocale(LC_ALL, \"\")"),
        ("newlocale", "locale_t p = newlocale(LC_ALL_MASK, \"\", 0)"),
        ("duplocale", "locale_t p = duplocale(LC_GLOBAL_LOCALE)"),
        ("localtime", "time_t t = time(0); struct tm *p = localtime(&t)"),
        ("getgrent", "struct group *p = getgrent()"),
        ("readdir", "DIR *d = opendir(\"a\"); struct dirent *p = d ? readdir(d) : 0"),
        ("tmpnam", "char *p = tmpnam(0)"),
        ("inet_ntoa", "struct in_addr a = {5}; char *p = inet_ntoa(a)"),
        ("lfind", "size_t n = 9; char *p = lfind(\"t\", text, &n, 1, order)"),
        ("strsep", "char *p = strsep(&rest, \",\")"),
        ("gai_strerror", "const char *p = gai_strerror(-argc)"),
    ],
    &[
        ("setmntent", "FILE *p = setmntent(\"a\", \"r\")"),
        ("getmntent", "FILE *f = fopen(\"a\", \"r\"); struct mntent *p = f ? getmntent(f) : 0"),
        ("hasmntopt", "struct mntent m = {\"\", \"\", \"\", text}; char *p = hasmntopt(&m, \"a\")"),
        ("secure_getenv", "char *p = secure_getenv(\"A\")"),
        ("ctime_r", "time_t t = time(0); char b[26], *p = ctime_r(&t, b)"),
        ("getgrnam", "struct group *p = getgrnam(\"a\")"),
        ("fdopendir", "DIR *p = fdopendir(5)"),
        ("mkdtemp", "char b[] = \"aXXXXXX\", *p = mkdtemp(b)"),
        ("bind_textdomain_codeset", "char *p = bind_textdomain_codeset(\"a\",\"b\")"),
        ("bsearch", "char *p = bsearch(\"t\", text, 9, 1, order)"),
        ("strtok_r", "char *p = strtok_r(text, \",\", &rest)"),
        ("memcpy", "char b[50], *p = memcpy(b, text, 50)"),
    ],
    &[
        ("getenv", "char *p = getenv(\"A\")"),
        ("ctime", "time_t t = time(0); char *p = ctime(&t)"),
        ("getgrgid", "struct group *p = getgrgid(5)"),
        ("opendir", "DIR *p = opendir(\"a\")"),
        ("wcsdup", "wchar_t *p = wcsdup(L\"abc\")"),
        ("bindtextdomain", "char *p = bindtextdomain(\"a\",\"b\")"),
        ("tdelete", "void *p = tdelete(\"a\", &root, order)"),
        ("strtok", "char *p = strtok(text, \",\")"),
        ("strcat", "char b[250] = \"a\", *p = strcat(b, text)"),
    ],
];

/// Functions without a row: most return an argument, or are other names of functions with a row.
const OTHERS: &[&str] = &[
    "__CPROVER_allocate",
    "__ctype_b_loc",
    "__ctype_tolower_loc",
    "__ctype_toupper_loc",
    "__errno_location",
    "__fgets_chk",
    "__fgets_unlocked_chk",
    "__memcpy_chk",
    "__memmove_chk",
    "__mempcpy",
    "__mempcpy_chk",
    "__memset_chk",
    "__rawmemchr",
    "__realpath_chk",
    "__stpcpy",
    "__stpcpy_chk",
    "__stpncpy_chk",
    "__strcat_chk",
    "__strcpy_chk",
    "__strdup",
    "__strncat_chk",
    "__strncpy_chk",
    "__strndup",
    "__strtok_r",
    "dcgettext",
    "dcngettext",
    "dngettext",
    "fgets_unlocked",
    "fmemopen",
    "freopen64",
    "getmntent_r",
    "gets",
    "index",
    "memalign",
    "memccpy",
    "memmove",
    "mempcpy",
    "memrchr",
    "memset",
    "mktemp",
    "mmap64",
    "mremap",
    "open_memstream",
    "open_wmemstream",
    "pthread_getspecific",
    "pvalloc",
    "rawmemchr",
    "readdir64",
    "realloc",
    "rindex",
    "stpncpy",
    "strcasestr",
    "strchrnul",
    "strncat",
    "strncpy",
    "tmpfile64",
    "tss_get",
    "uselocale",
    "valloc",
    "wcpcpy",
    "wcpncpy",
    "wcscat",
    "wcschrnul",
    "wcscpy",
    "wcsncat",
    "wcsncpy",
    "wcspbrk",
    "wcsrchr",
    "wcsstr",
    "wctrans",
    "wmemchr",
    "wmemcpy",
    "wmemmove",
    "wmempcpy",
    "wmemset",
];

/// The objects that the rows use, with facts about other objects.
const PRELUDE: &str = r#"#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <locale.h>
#include <time.h>
#include <pwd.h>
#include <grp.h>
#include <langinfo.h>
#include <dirent.h>
#include <unistd.h>
#include <libintl.h>
#include <search.h>
#include <libgen.h>
#include <wchar.h>
#include <sys/mman.h>
#include <arpa/inet.h>
#include <netdb.h>
#include <ctype.h>
#include <wctype.h>
#include <errno.h>
#include <regex.h>
#include <utmpx.h>
#include <mntent.h>
#include <iconv.h>
struct pair { int *first, *second; };
static int table[10];
static struct pair pair = {table, table + 9};
static char text[100] = "some,text", *rest = text;
static void *root;
static int order(const void *a, const void *b) { return *(const char *)a - *(const char *)b; }
static int sum(struct pair *p) { return (*p->first & 1) + (*p->second & 1); }
static int facts(struct pair *own, int *heap) {
    int s = sum(own) + sum(&pair);
    for (int i = 0; i < 10; i++) table[i] = i;
    for (int i = 0; i < 8; i++) heap[i] = i;
    return s & 1;
}
"#;

/// The checks whose places are all in the program, not in models.
const CHECKS: [&str; 4] = ["bounds", "null", "alignment", "signed-integer-overflow"];

fn program(rows: &[(&str, &str)]) -> String {
    let mut text = PRELUDE.to_owned();
    for (name, statement) in rows {
        let result = "return p ? ((char *)p)[0] != 0 : 0;";
        text += &format!("static int call_{name}(int argc, char **argv) {{ {statement}; {result} }}\n");
    }
    text += "int main(int argc, char **argv) {\n    struct pair own = {table + 1, table + 2};\n";
    text += "    int *heap = malloc(8 * sizeof *heap), n = 0;\n    if (!heap) return 1;\n";
    for (name, _) in rows {
        text += &format!("    n = (n + call_{name}(argc, argv) + facts(&own, heap)) & 1;\n");
    }
    text + "    return n;\n}\n"
}

/// The names of the functions that models define and that return pointers.
fn defined() -> BTreeSet<String> {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../frontend-llvm/models");
    let files = std::fs::read_dir(models).unwrap().map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap());
    let name = |line: &str| {
        let (before, _) = line.split_once('(')?;
        let (result, name) = before.rsplit_once('*')?;
        let is_word = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "_ *".contains(c));
        let is_definition = line.starts_with(|c: char| c.is_ascii_lowercase() || c == '_') && is_word(result);
        let kinds = ["static ", "extern ", "typedef "];
        (is_definition && is_word(name) && !kinds.iter().any(|kind| line.starts_with(kind))).then(|| name.to_owned())
    };
    let names: Vec<String> = files.flat_map(|text| text.lines().filter_map(name).collect::<Vec<_>>()).collect();
    names.into_iter().filter(|name| !name.is_empty() && !name.starts_with("proviso_")).collect()
}

#[test]
fn every_function_that_returns_a_pointer_has_a_row_or_a_reason() {
    let rows = ROWS.iter().flat_map(|rows| rows.iter().map(|(name, _)| (*name).to_owned()));
    let known: BTreeSet<String> = rows.chain(OTHERS.iter().map(|name| (*name).to_owned())).collect();
    let missing: Vec<String> = defined().into_iter().filter(|name| !known.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn what_is_known_of_other_objects_survives() {
    let folder = tempfile::tempdir().unwrap();
    for rows in ROWS {
        let file = folder.path().join("calls.c");
        std::fs::write(&file, program(rows)).unwrap();
        let mut proviso = Command::new(env!("CARGO_BIN_EXE_proviso"));
        let output = proviso
            .args(["verify", "--timeout", "10", "--check"])
            .arg(CHECKS.join(","))
            .args(["--json", "-"])
            .arg(&file);
        let text = String::from_utf8(output.output().unwrap().stdout).unwrap();
        let (json, _) = text.trim_end().rsplit_once('\n').unwrap();
        let json: serde_json::Value = serde_json::from_str(json).unwrap();
        for check in json["checks"].as_array().unwrap() {
            let number = |name: &str| check[name].as_u64().unwrap();
            let names: Vec<&str> = rows.iter().map(|(name, _)| *name).collect();
            assert_eq!(number("discharged"), number("places"), "{} after {names:?}", check["name"]);
        }
    }
}
