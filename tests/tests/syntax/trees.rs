//! The tree-sitter grammars: the parsers that are checked in read all programs of the repository and random ones, group
//! them as the compiler does, colour all tokens by what the lexers say they are, and give the trees of their own tests.

#![allow(clippy::unwrap_used, reason = "a panic in a helper is a failed test")]
#![allow(unsafe_code, reason = "a parser is a library of C")]

use nesl_frontend::ast::{
    Binding, Expr, ExprKind, Pattern, PatternKind, TopLevel, TopLevelKind, TypeExpr, TypeExprKind, UnaryOp,
};
use nesl_frontend::syntax::Syntax;
use nesl_frontend::syntax::nesl::lexer::{Lexed, lex};
use nesl_frontend::syntax::nesl::parser;
use nesl_frontend::syntax::nesl::token::{Foreign, Token};
use nesl_frontend::syntax::v::highlight;
use nesl_span::{FileId, Span};
use nesl_tests::programs::root;
use nesl_tests::session::printed;
use nesl_tests::{generate, generate_v};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use tree_sitter::ffi::TSLanguage;
use tree_sitter::{Language, Node, Parser, Query, QueryCursor, StreamingIterator, Tree};

/// A grammar under `editors`.
struct Grammar {
    folder: PathBuf,
    language: Language,
}

static NESL: LazyLock<Grammar> = LazyLock::new(|| Grammar::compiled("tree-sitter-nesl", b"tree_sitter_nesl"));
static V: LazyLock<Grammar> = LazyLock::new(|| Grammar::compiled("tree-sitter-nesl-v", b"tree_sitter_nesl_v"));

impl Grammar {
    /// Compiles the parser that is checked in, as docs/editors.md says, and loads it.
    fn compiled(folder: &str, entry: &[u8]) -> Grammar {
        let folder = root().join("editors").join(folder);
        let built = tempfile::tempdir().unwrap();
        let library = built.path().join("parser.so");
        let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
        let mut command = Command::new(compiler);
        command.args(["-shared", "-fPIC", "-o"]).arg(&library);
        command.arg("-I").arg(folder.join("src")).arg(folder.join("src/parser.c"));
        let compiled = command.output().expect("there is a C compiler");
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        // SAFETY: what tree-sitter generates runs nothing when it is loaded. Its one function has no parameters and
        // gives a table that is there as long as the library is, which is never unloaded.
        let language = unsafe {
            let library = Box::leak(Box::new(libloading::Library::new(&library).unwrap()));
            let entry = library.get::<unsafe extern "C" fn() -> *const TSLanguage>(entry).unwrap();
            Language::from_raw(entry())
        };
        Grammar { folder, language }
    }

    fn parse(&self, text: &str) -> Tree {
        let mut parser = Parser::new();
        parser.set_language(&self.language).expect("the parser is one for this version of tree-sitter");
        parser.parse(text, None).unwrap()
    }

    /// The tree of a program, which must have no mistakes.
    fn tree(&self, name: &str, text: &str) -> Tree {
        let tree = self.parse(text);
        let mut wrong = None;
        each(tree.root_node(), &mut |node| {
            if (node.is_error() || node.is_missing()) && wrong.is_none() {
                wrong = Some(format!("{} at {}: {}", node.kind(), node.start_position(), &text[node.byte_range()]));
            }
        });
        assert!(wrong.is_none() && !tree.root_node().has_error(), "{name}: {wrong:?}");
        tree
    }

    fn query(&self, name: &str) -> Query {
        let text = std::fs::read_to_string(self.folder.join("queries").join(name)).unwrap();
        Query::new(&self.language, &text).unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}

/// Visits a node and all below it.
fn each<'t>(node: Node<'t>, visit: &mut impl FnMut(Node<'t>)) {
    visit(node);
    for child in node.children(&mut node.walk()) {
        each(child, visit);
    }
}

static PROGRAMS: LazyLock<[Vec<(String, String)>; 2]> = LazyLock::new(|| [Syntax::Nesl, Syntax::V].map(collected));

/// The names and texts of all programs of the repository that are programs, and of random ones.
fn programs(syntax: Syntax) -> &'static [(String, String)] {
    &PROGRAMS[usize::from(syntax == Syntax::V)]
}

fn collected(syntax: Syntax) -> Vec<(String, String)> {
    fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            if path.is_dir() && !name.to_string_lossy().starts_with('.') && name != "target" {
                collect(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "nesl" || extension == "v") {
                found.push(path);
            }
        }
    }
    let mut paths = Vec::new();
    collect(&root(), &mut paths);
    let named = paths.into_iter().map(|path| (path.display().to_string(), std::fs::read_to_string(&path).unwrap()));
    let random = (1..=100).map(|seed| match syntax {
        Syntax::Nesl => (format!("seed {seed}"), generate::program(seed).text()),
        Syntax::V => (format!("seed {seed}.v"), generate_v::program(seed)),
    });
    let is_program =
        |(name, text): &(String, String)| Syntax::of(name) == syntax && syntax.format(FileId(0), text).is_ok();
    named.chain(random).filter(is_program).collect()
}

#[test]
fn the_parser_reads_all_programs_of_nesl_and_groups_them_as_the_compiler_does() {
    let programs = programs(Syntax::Nesl);
    assert!(programs.len() > 700, "only {} programs", programs.len());
    for (name, text) in programs {
        agree(name, text);
    }
}

#[test]
fn the_parser_reads_all_programs_of_v_and_groups_them_as_the_compiler_does() {
    let programs = programs(Syntax::V);
    assert!(programs.len() > 100, "only {} programs", programs.len());
    // Operators of all rows, each beside each, and what else operands are in.
    let signs = ["||", "&&", "|", "^", "&", "==", "<", "<<", "+", "*"];
    let mut seldom = String::from("int x = 0;\nint v[*] = [1];\n");
    for (first, second) in signs.iter().flat_map(|first| signs.iter().map(move |second| (first, second))) {
        seldom += &format!("x {first} 1 {second} -x {first} (int) x ? $v {second} v[0] : !x ? 2 : x {first} 3;\n");
    }
    for (name, text) in programs.iter().chain([&("operators".to_owned(), seldom)]) {
        let grouped = in_parentheses(text, &V.tree(name, text));
        // By its first comment it is one of V.
        let [plain, grouped] = [text, &grouped].map(|text| printed(&format!("/**/{text}")));
        let differing = plain.lines().zip(grouped.lines()).find(|(plain, grouped)| plain != grouped);
        assert_eq!(differing, None, "{name}: the compiler's on the left");
        assert_eq!(plain.lines().count(), grouped.lines().count(), "{name}");
    }
}

/// A text of V with parentheses around all operations that the tree sees.
fn in_parentheses(text: &str, tree: &Tree) -> String {
    const OPERATIONS: [&str; 4] =
        ["binary_expression", "unary_expression", "conditional_expression", "cast_expression"];
    let mut signs = Vec::new();
    each(tree.root_node(), &mut |node| {
        if OPERATIONS.contains(&node.kind()) {
            signs.extend([(node.start_byte(), "("), (node.end_byte(), ")")]);
        }
    });
    signs.sort_unstable();
    let (mut at, mut made) = (0, String::new());
    for (place, sign) in signs {
        made += &text[at..place];
        made += sign;
        at = place;
    }
    made + &text[at..]
}

#[test]
fn what_programs_seldom_write_is_grouped_as_well() {
    for text in [
        "-2 ^ 3 * 2; 3 - -2 * 2; 2 ^ -x ^ 2; v -> -i <- w; #-a ^ b; @g x[0](y) -> z;",
        "1 + if a then b else c + d, e; [if a then b else c, d]; x => if a then b, c else d, e;",
        "g x y[1] (z) `a \"b\" 1 2.0 t 'max (let a = 1 in a)[2]; sqrt if a then b else c d;",
        "x => y => a, b; g(x, a := if b then c else d, e := 1); ((a), ((b))) => a;",
        "a nand b or c and d == e xor h nor i < j /= k; a || b ++ c * d; a <- b <- c -> d -> e;",
        "function '+ a = a; function g((x), point((y), z), b := (c, d)) : ((int)) -> [a] -> (int, b) :: b in any = x;",
        "[] (int, [a]); [[] box(a), []]; [1 : 3, 4 : 5, 6][0, 1]; [a : b];",
        "{* a, b : (c, d) in e, x; y; point(z) in w | u, v}; {point(a) in v}; {() in v}; {t : v};",
        "let a, (b) = 1, 2; c() = d; in if time() then time((x)) else time(x + 1), 2;",
        "import \"a.nesl\" as b; import = as; import(import); b.if + T.X; datatype d(a) :: (a in any; b in any);",
        "`\n 1; x = `\\x41 ++ `\\ ; 1.e3 + .5 + 1.; a = b$ % c % d %e%; \"\\q\\\"%\" % \" %;",
    ] {
        assert!(parser::parse(FileId(0), text).diagnostics.is_empty(), "{text}");
        agree(text, text);
    }
}

/// The parts of a program with their places: kinds of expressions and types as the grammar calls them, and what is
/// bound. An expression in parentheses has their place.
type Shapes = Vec<(String, usize, usize)>;

/// Both must see the same parts in the same places.
fn agree(name: &str, text: &str) {
    let tree = NESL.tree(name, text);
    let (mut of_compiler, mut of_tree) = (OfCompiler(Vec::new()), OfTree { text, found: Vec::new() });
    parser::parse(FileId(0), text).forms.iter().for_each(|form| of_compiler.form(form));
    of_tree.parts(tree.root_node());
    let (mut wanted, mut found) = (of_compiler.0, of_tree.found);
    wanted.sort();
    found.sort();
    let shown = |shape: Option<&(String, usize, usize)>| {
        shape.map(|(kind, start, end)| format!("{kind} at {start}: {}", text.get(*start..*end).unwrap_or("")))
    };
    let at = wanted.iter().zip(&found).position(|(wanted, found)| wanted != found);
    let at = at.unwrap_or(wanted.len().min(found.len()));
    let (wanted, found) = (shown(wanted.get(at)), shown(found.get(at)));
    assert_eq!(wanted, found, "{name}: the compiler's on the left");
}

struct OfCompiler(Shapes);

impl OfCompiler {
    fn add(&mut self, kind: &str, span: Span) {
        self.0.push((kind.to_owned(), span.start as usize, span.end as usize));
    }

    fn bound(&mut self, pattern: &Pattern) {
        let mut names = Vec::new();
        pattern.names(&mut names);
        self.0.push((format!("binds {}", names.join(" ")), 0, 0));
        self.annotations(pattern);
    }

    fn annotations(&mut self, pattern: &Pattern) {
        match &pattern.kind {
            PatternKind::Tuple(parts) => parts.iter().for_each(|part| self.annotations(part)),
            PatternKind::Record(_, inner) => self.annotations(inner),
            PatternKind::Typed(inner, ty) => {
                self.annotations(inner);
                self.types(ty);
            }
            PatternKind::Variable(_) | PatternKind::Unit | PatternKind::Error => {}
        }
    }

    fn form(&mut self, form: &TopLevel) {
        match &form.kind {
            TopLevelKind::Function(function) => {
                self.add("function_definition", form.span);
                self.bound(&function.parameter);
                for keyword in &function.keywords {
                    self.add("default_parameter", keyword.name.span.to(keyword.default.span));
                    keyword.ty.iter().for_each(|ty| self.types(ty));
                    self.expression(&keyword.default);
                }
                if let Some(signature) = &function.signature {
                    self.types(&signature.type_expr);
                    signature.context.iter().for_each(|(name, class)| self.add("constraint", name.span.to(class.span)));
                }
                function.body.iter().for_each(|body| self.expression(body));
            }
            TopLevelKind::Datatype(datatype) => {
                self.add("datatype_definition", form.span);
                self.types(&datatype.payload.type_expr);
                let context = &datatype.payload.context;
                context.iter().for_each(|(name, class)| self.add("constraint", name.span.to(class.span)));
            }
            TopLevelKind::Assignment { pattern, value } => {
                self.add("assignment", form.span);
                self.bound(pattern);
                self.expression(value);
            }
            TopLevelKind::Import(_) => self.add("import_declaration", form.span),
            TopLevelKind::Expression(expression) => self.expression(expression),
            TopLevelKind::Error => panic!("no program"),
        }
    }

    fn expression(&mut self, expression: &Expr) {
        let kind = match &expression.kind {
            ExprKind::Literal(_) => "literal",
            ExprKind::Text(_) => "string",
            ExprKind::Name(_) => "name",
            ExprKind::Unit => "unit",
            ExprKind::Tuple(_) => "tuple",
            ExprKind::Call { .. } => "call_expression",
            ExprKind::Index { .. } => "index_expression",
            ExprKind::Unary { op: UnaryOp::Negate, .. } => "unary_expression -",
            ExprKind::Unary { op: UnaryOp::Length, .. } => "unary_expression #",
            ExprKind::Unary { op: UnaryOp::String, .. } => "unary_expression @",
            ExprKind::Binary { op, .. } => &format!("binary_expression {}", op.function()),
            ExprKind::If { .. } => "if_expression",
            ExprKind::Let { bindings, .. } => match timed(bindings) {
                None => "let_expression",
                Some(timed) => {
                    self.add("time_expression", expression.span);
                    return self.expression(timed);
                }
            },
            ExprKind::Sequence(_) => "sequence",
            ExprKind::Empty(_) => "empty_sequence",
            ExprKind::Range { .. } => "range",
            ExprKind::Lambda { .. } => "lambda_expression",
            ExprKind::Keyword { .. } => "named_argument",
            // No program: it has to be a pattern.
            ExprKind::Typed { .. } => "typed",
            ExprKind::Each { .. } => "apply_to_each",
            ExprKind::Error => panic!("no program"),
        };
        self.add(kind, expression.span);
        match &expression.kind {
            ExprKind::Lambda { parameter, .. } => self.bound(parameter),
            ExprKind::Let { bindings, .. } => bindings.iter().for_each(|binding| self.bound(&binding.pattern)),
            ExprKind::Each { sources, .. } => sources.iter().for_each(|source| self.bound(&source.pattern)),
            ExprKind::Empty(Some(element)) => self.types(element),
            _ => {}
        }
        expression.parts().into_iter().for_each(|part| self.expression(part));
    }

    fn types(&mut self, ty: &TypeExpr) {
        let (kind, parts): (&str, Vec<&TypeExpr>) = match &ty.kind {
            TypeExprKind::Scalar(_) | TypeExprKind::Name(_) => ("type_identifier", Vec::new()),
            TypeExprKind::Record(_, parts) => ("generic_type", parts.iter().collect()),
            TypeExprKind::Sequence(element) => ("sequence_type", vec![element]),
            TypeExprKind::Unit => ("tuple_type", Vec::new()),
            TypeExprKind::Tuple(parts) => ("tuple_type", parts.iter().collect()),
            TypeExprKind::Function(parameter, result) => ("function_type", vec![parameter, result]),
            TypeExprKind::Error => panic!("no program"),
        };
        self.add(kind, ty.span);
        parts.into_iter().for_each(|part| self.types(part));
    }
}

/// What stands in `time(…)`, if these are the bindings that the compiler makes of it.
fn timed(bindings: &[Binding]) -> Option<&Expr> {
    // No program can write a name with a blank.
    let mut names = Vec::new();
    bindings.first()?.pattern.names(&mut names);
    match bindings.get(1).filter(|_| names.iter().any(|name| name.contains(' '))).map(|binding| &binding.value.kind) {
        Some(ExprKind::Call { function, .. }) => match &function.kind {
            ExprKind::Lambda { body, .. } => Some(body),
            _ => None,
        },
        _ => None,
    }
}

struct OfTree<'t> {
    text: &'t str,
    found: Shapes,
}

impl OfTree<'_> {
    /// What has names of its own in the grammar, without comments.
    fn inside<'n>(node: Node<'n>) -> Vec<Node<'n>> {
        node.named_children(&mut node.walk()).filter(|child| !child.is_extra()).collect()
    }

    fn parts(&mut self, node: Node) {
        Self::inside(node).into_iter().for_each(|child| self.part(child, None));
    }

    /// The names that patterns bind.
    fn bound(&mut self, patterns: &[Node]) {
        fn collect<'n>(node: Node<'n>, found: &mut Vec<Node<'n>>) {
            match node.kind() {
                "identifier" => found.push(node),
                "record_pattern" => collect(node.child_by_field_name("parts").unwrap(), found),
                "typed_pattern" => collect(node.child_by_field_name("pattern").unwrap(), found),
                _ => OfTree::inside(node).into_iter().for_each(|child| collect(child, found)),
            }
        }
        let mut found = Vec::new();
        patterns.iter().for_each(|pattern| collect(*pattern, &mut found));
        patterns.iter().for_each(|pattern| self.annotations(*pattern));
        let names: Vec<String> = found.iter().map(|name| self.text[name.byte_range()].to_lowercase()).collect();
        self.found.push((format!("binds {}", names.join(" ")), 0, 0));
    }

    /// The types behind patterns.
    fn annotations(&mut self, pattern: Node) {
        for part in Self::inside(pattern) {
            match pattern.kind() == "typed_pattern" && pattern.child_by_field_name("type") == Some(part) {
                true => self.part(part, None),
                false => self.annotations(part),
            }
        }
    }

    /// A part, with the parentheses around it.
    fn part(&mut self, node: Node, around: Option<Node>) {
        let range = around.unwrap_or(node).byte_range();
        let field = |name| node.child_by_field_name(name);
        let mut parts = Self::inside(node);
        let kind = match node.kind() {
            "script_line" => return,
            "parenthesized_expression" => return self.part(parts[0], around.or(Some(node))),
            "tuple_type" if parts.len() == 1 => return self.part(parts[0], around.or(Some(node))),
            // These are parts of what is around them.
            "signature" | "context" | "filter" => return self.parts(node),
            "binding" | "source" => {
                self.bound(&[parts.remove(0)]);
                return parts.into_iter().for_each(|part| self.part(part, None));
            }
            "integer" | "float" | "boolean" | "character" => "literal".to_owned(),
            "identifier" | "qualified_identifier" | "quoted_name" => "name".to_owned(),
            kind @ ("unary_expression" | "binary_expression") => {
                format!("{kind} {}", field("operator").unwrap().kind())
            }
            kind => kind.to_owned(),
        };
        self.found.push((kind, range.start, range.end));
        match node.kind() {
            "string" | "quoted_name" | "import_declaration" => parts.clear(),
            "assignment" | "lambda_expression" => self.bound(&[parts.remove(0)]),
            "default_parameter" | "named_argument" | "generic_type" | "datatype_definition" => drop(parts.remove(0)),
            "function_definition" => {
                let parameters = field("parameters").unwrap();
                let (defaults, patterns): (Vec<Node>, Vec<Node>) = match parameters.kind() {
                    "identifier" => (Vec::new(), vec![parameters]),
                    _ => Self::inside(parameters).into_iter().partition(|part| part.kind() == "default_parameter"),
                };
                self.bound(&patterns);
                parts = defaults.into_iter().chain(field("type")).chain(field("body")).collect();
            }
            "constraint" => parts.clear(),
            _ => {}
        }
        parts.into_iter().for_each(|part| self.part(part, None));
    }
}

/// What the highlights say of each part of a text: where several do, the last of them counts.
fn colours<'q>(query: &'q Query, tree: &Tree, text: &str) -> BTreeMap<(usize, usize), &'q str> {
    let mut cursor = QueryCursor::new();
    let mut matches = cursor.matches(query, tree.root_node(), text.as_bytes());
    let mut found = BTreeMap::new();
    while let Some(matched) = matches.next() {
        for capture in matched.captures {
            let name = query.capture_names()[capture.index as usize];
            let place = (capture.node.start_byte(), capture.node.end_byte());
            let known = found.entry(place).or_insert((matched.pattern_index, name));
            if name != "spell" && (known.1 == "spell" || known.0 <= matched.pattern_index) {
                *known = (matched.pattern_index, name);
            }
        }
    }
    found.into_iter().map(|(place, (_, name))| (place, name)).collect()
}

/// What colours a token may have.
fn expected(token: &Token) -> &'static [&'static str] {
    match token {
        Token::Int(_) => &["number"],
        Token::Float(_) => &["number.float"],
        Token::Bool(_) => &["boolean"],
        Token::Char(_) => &["character"],
        Token::Text(_) => &["string", "string.documentation", "string.special.path"],
        Token::Name(_) => &[
            "variable",
            "variable.parameter",
            "function",
            "function.call",
            "type",
            "type.builtin",
            "type.definition",
            "constructor",
            "module",
            "keyword.import",
        ],
        Token::Keyword(_) => &["keyword", "keyword.conditional", "keyword.function", "keyword.type"],
        Token::Operator(op) if op.function().starts_with(char::is_alphabetic) => &["keyword.operator"],
        Token::Operator(_)
        | Token::Hash
        | Token::At
        | Token::Equal
        | Token::Foreign(Foreign::FileVariable)
        | Token::Lambda
        | Token::ColonEqual => &["operator"],
        Token::Open(_) | Token::Close(_) => &["punctuation.bracket"],
        Token::Quote
        | Token::Comma
        | Token::Semicolon
        | Token::Dollar
        | Token::Colon
        | Token::DoubleColon
        | Token::Bar => &["punctuation.delimiter"],
        Token::Foreign(_) | Token::Unreadable => &[],
    }
}

#[test]
fn the_highlights_colour_what_the_lexer_sees() {
    let query = NESL.query("highlights.scm");
    for (name, text) in programs(Syntax::Nesl) {
        let colours = colours(&query, &NESL.tree(name, text), text);
        let Lexed { tokens, comments, .. } = lex(FileId(0), text);
        let tokens = tokens.iter().map(|(token, span)| (*span, expected(token)));
        for (span, names) in tokens.chain(comments.into_iter().map(|span| (span, &["comment"][..]))) {
            let found = colours.get(&(span.start as usize, span.end as usize)).copied().unwrap_or("");
            let part = &text[span.start as usize..span.end as usize];
            assert!(names.contains(&found), "{name}: `{part}` at {} is called `{found}`", span.start);
        }
    }
}

/// How the names of the colours begin that a part of a text of V may have.
fn expected_of_v(part: highlight::Part) -> &'static [&'static str] {
    match part {
        highlight::Part::Word => &["keyword", "type.builtin"],
        highlight::Part::Constant => &["number", "boolean"],
        highlight::Part::Text => &["string", "character"],
        highlight::Part::Open | highlight::Part::Close => &["punctuation.bracket"],
        highlight::Part::Other => {
            &["variable", "function", "type", "module", "operator", "punctuation.delimiter", "keyword.import"]
        }
    }
}

#[test]
fn the_highlights_of_v_colour_what_its_lexer_sees() {
    let query = V.query("highlights.scm");
    for (name, text) in programs(Syntax::V) {
        let colours = colours(&query, &V.tree(name, text), text);
        for (part, span) in highlight::parts(text).0 {
            let found = colours.get(&(span.start as usize, span.end as usize)).copied().unwrap_or("");
            let is_right = expected_of_v(part).iter().any(|name| found.starts_with(name));
            assert!(is_right, "{name}: `{}` is called `{found}`", &text[span.start as usize..span.end as usize]);
        }
    }
}

#[test]
fn the_other_queries_fit_the_grammars() {
    for grammar in [&*NESL, &*V] {
        for name in ["locals.scm", "folds.scm"] {
            assert!(grammar.query(name).pattern_count() > 0);
        }
    }
}

/// The tests of a grammar, as tree-sitter's own command runs them: their names, texts and trees.
fn corpus(grammar: &Grammar) -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(grammar.folder.join("test/corpus")).unwrap().flatten() {
        let text = std::fs::read_to_string(entry.path()).unwrap();
        let is_rule = |line: &str| line.len() > 3 && line.bytes().all(|byte| byte == b'=');
        let mut lines = text.lines().peekable();
        while lines.next().is_some_and(|line| line.is_empty() || is_rule(line)) {
            let Some(name) = lines.next_if(|line| !line.is_empty()) else { continue };
            assert!(lines.next().is_some_and(is_rule), "{name}");
            let program: Vec<&str> = lines.by_ref().take_while(|line| *line != "---").collect();
            let mut tree = String::new();
            while let Some(line) = lines.next_if(|line| !is_rule(line)) {
                tree += line.trim();
                tree.push(' ');
            }
            found.push((name.to_owned(), program.join("\n"), tree.trim().to_owned()));
        }
    }
    found
}

#[test]
fn the_tests_of_the_grammars_pass() {
    for grammar in [&*NESL, &*V] {
        let tests = corpus(grammar);
        assert!(tests.len() > 20, "only {} tests", tests.len());
        for (name, text, tree) in tests {
            assert_eq!(grammar.tree(&name, &text).root_node().to_sexp(), tree, "{name}");
        }
    }
}

/// By tree-sitter's own command, if this machine has the one by which they were made.
#[test]
fn the_parsers_are_what_the_grammars_say() {
    for Grammar { folder, .. } in [&*NESL, &*V] {
        let parser = std::fs::read_to_string(folder.join("src/parser.c")).unwrap();
        let version = Command::new("tree-sitter").arg("--version").output();
        let version = version.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
        let Some(number) =
            version.split_whitespace().nth(1).filter(|number| parser.lines().next().unwrap().contains(number))
        else {
            eprintln!("skipped: there is no tree-sitter command of the version that made the parsers");
            return;
        };
        let made = tempfile::tempdir().unwrap();
        for name in ["grammar.js", "tree-sitter.json"] {
            std::fs::copy(folder.join(name), made.path().join(name)).unwrap();
        }
        let mut command = Command::new("tree-sitter");
        let ran = command.args(["generate", "--abi", "14"]).current_dir(made.path()).output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        for name in ["parser.c", "grammar.json", "node-types.json"] {
            let path = Path::new("src").join(name);
            let same = std::fs::read(made.path().join(&path)).unwrap() == std::fs::read(folder.join(&path)).unwrap();
            assert!(same, "{}: run `tree-sitter generate --abi 14` (version {number})", folder.join(&path).display());
        }
    }
}
