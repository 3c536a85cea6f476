//! Programs with a few tokens changed: the checker answers every one, and what it accepts is well-typed core that runs.

use nesl_frontend::core::Form;
use nesl_frontend::eval::{Evaluator, Globals};
use nesl_frontend::syntax::nesl::lexer;
use nesl_frontend::{Options, Session};
use nesl_span::{Origin, SourceMap};

const PROGRAMS: [&str; 9] = [
    "function mk(n) = (y => y + n); h = mk(3); {mk(x)(h(x)) : x in [1, 2]}; mk(1.5)(2.0);",
    "function papply(fn, v) = {fn(x) : x in v}; papply(abs, [1]); papply('max, [(1, 2)]); papply((x => [x]), \"a\");",
    "function compose(g, h) = (x => g(h(x))); compose(sqrt, float)(16); {compose(negate, y => y + x)(x) : x in [1]};",
    "{(z => (w => z + x * w))(y) : (x, y) in [(1, 2)] | (z => z > x)(y)}; (a, b) => (c => (a, b, c)); [sin, sin];",
    "datatype foo (int, int); datatype bar (a, [a], b -> b) :: (a in number; b in any); foo(p, _q) = foo(1, 2); \
     let bar(a, v, g) = bar(1.5, [], x => x + p) in ({g(y) : y in [1]}, a, v); {foo(a, b) in [foo(1, 2)] | a < b};",
    "function df(a, (b, c), d := 3, e := []) = if a > 0 then df(a - 1, (b, c)) else (b, c, d, e); df(1, 2, 3); \
     let p = (2, 3) in df(1, p, d := 5); (g => g(1, 2.0, t))(df); {df(i, (i, i), e := [i]) : i in [1]};",
    "function od(n) : int -> bool; function ev(n) = if n == 0 then t else od(n - 1); ev(4); \
     function od(n) = if n == 0 then f else ev(n - 1); function id(x) : a -> a :: (a in any) = x; id(ev)(2);",
    "function reduce(fn, z, v) = if #v == 0 then z else if #v == 1 then v[0] else let h = bottop(v) in \
     fn(reduce(fn, z, h[0]), reduce(fn, z, h[1])); reduce('+, 0, [1, 2, 3]); reduce((a, b) => a ++ b, \"\", [\"a\"]);",
    "function poly(v) = let n = #v; e = [] in (w => (#e + n, w)); poly(\"a\")(t); identity(poly([2])); [poly, poly];",
];

#[test]
fn mutated_programs_are_answered() {
    let mut sources = SourceMap::default();
    let session = Session::new(&mut sources);
    let mut globals = Globals::new();
    for form in session.library() {
        Evaluator::new(session.program()).form(form, &mut globals, 1).expect("the library has values");
    }
    let mut state = 88_172_645_463_325_252_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as usize % below
    };
    let mut accepted = 0;
    for round in 0..1_500 {
        let text = PROGRAMS[round % PROGRAMS.len()];
        let file = sources.add("program.nesl", text, Origin::User);
        let mut words: Vec<&str> = lexer::lex(file, text)
            .tokens
            .iter()
            .map(|(_, span)| &text[span.start as usize..span.end as usize])
            .collect();
        for _ in 0..1 + random(4) / 3 {
            let (place, other) = (random(words.len()), random(words.len()));
            match random(4) {
                0 => {
                    words.remove(place);
                }
                1 => words.swap(place, other),
                2 => words[place] = words[other],
                _ => words.insert(place, words[other]),
            }
        }
        let text = words.join(" ");
        let file = sources.add("mutated.nesl", text.as_str(), Origin::User);
        let mut session = session.clone();
        let checked = session.check(&sources, file, Options::default());
        for report in &checked.diagnostics {
            assert!(!nesl_frontend::render::render(report, &sources, false).is_empty());
        }
        let mut globals = globals.clone();
        accepted += usize::from(!checked.has_errors());
        for form in &checked.forms {
            let mut evaluator = Evaluator::new(session.program()).with_call_limit(1_000).with_step_limit(1_000);
            let evaluated = evaluator.form(form, &mut globals, 1);
            match (form, evaluated) {
                (Form::Expression(expr), Ok(Some(value))) => drop(value.text(&expr.ty)),
                (_, Err(_)) => break,
                _ => {}
            }
        }
    }
    assert!(accepted > 50, "only {accepted} were accepted");
}
