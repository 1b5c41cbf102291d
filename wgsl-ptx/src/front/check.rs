//! Checks in one pass over its tokens that a source is within the [limits](super::limits), before any parser sees it.

use super::declarations::{Declarations, Lists};
use super::limits::{
    DEEP, MAX_DECLARATIONS, MAX_FUNCTION_TOKENS, MAX_MEMBERS, MAX_NESTING, MAX_OPERATORS,
    MAX_SOURCE_BYTES, MAX_TOKENS, MAX_VARIABLES, exceeded,
};
use super::stack::CompileStack;
use super::tokens::{Token, Tokens};

/// Counters of an open bracket. [`Scan`] has a stack of them, the outermost bracket first.
struct Level {
    /// The opening bracket.
    bracket: u8,
    /// Number of operators since the last comma or semicolon.
    operators: usize,
    /// Number of members, indices and calls since the last operator.
    accesses: usize,
    /// Height of the expression tree of their operands, brackets included.
    inner: usize,
    /// Largest height of the expressions before the last comma.
    done: usize,
    /// Number of consecutive `else if`.
    alternatives: usize,
}

impl Level {
    const fn new(bracket: u8) -> Self {
        Self {
            bracket,
            operators: 0,
            accesses: 0,
            inner: 0,
            done: 0,
            alternatives: 0,
        }
    }

    const fn height(&self) -> usize {
        self.operators + self.inner
    }

    /// Begins a new expression, after a comma, a semicolon or the end of a block.
    fn restart(&mut self) {
        self.done = self.done.max(self.height());
        (self.operators, self.accesses, self.inner) = (0, 0, 0);
    }
}

/// A `<` that may begin a template list, by the rules of WGSL's template list discovery.
struct Template {
    /// Index of its token.
    index: usize,
    level: usize,
    /// Nesting depth of the template lists inside.
    inner: usize,
}

/// State of the scan at the current token.
struct Scan<'a> {
    source: &'a str,
    levels: Vec<Level>,
    templates: Vec<Template>,
    lists: Lists,
    before: Option<Token<'a>>,
    /// Maximum so far of each number that [`DEEP`] bounds.
    deepest: [usize; 3],
}

/// Checks a source, and returns the stack that its compilation needs.
///
/// # Errors
/// The name and value of the limit that it exceeds, with line and column.
pub(super) fn check(source: &str) -> Result<CompileStack, String> {
    if source.len() > MAX_SOURCE_BYTES {
        let n = source.len();
        return Err(format!(
            "1:1: the source has {n} bytes, more than the limit of {MAX_SOURCE_BYTES} (MAX_SOURCE_BYTES): compile kernels from sources of their own"
        ));
    }
    let mut scan = Scan::new(source);
    let mut tokens = Vec::new();
    for (at, token) in Tokens::new(source) {
        scan.step(tokens.len(), at, token)?;
        tokens.push((at, token));
        if tokens.len() > MAX_TOKENS {
            let (what, remedy) = (
                "one token more",
                "compile kernels from sources of their own",
            );
            return Err(exceeded(source, at, what, MAX_TOKENS, "MAX_TOKENS", remedy));
        }
    }
    let declarations = Declarations::find(&tokens, std::mem::take(&mut scan.lists));
    check_numbers(source, &tokens, &declarations)?;
    let chain = declarations.measure(source, &tokens)?;
    scan.deepest[2] = chain;
    let is_deep = scan.deepest.iter().zip(DEEP).any(|(&n, deep)| n > deep);
    Ok(CompileStack::new(is_deep))
}

fn check_numbers(
    source: &str,
    tokens: &[(usize, Token<'_>)],
    declarations: &Declarations<'_>,
) -> Result<(), String> {
    if let Some(at) = declarations.at(MAX_DECLARATIONS) {
        let remedy = "compile kernels from sources of their own";
        let what = "one declaration more";
        return Err(exceeded(
            source,
            at,
            what,
            MAX_DECLARATIONS,
            "MAX_DECLARATIONS",
            remedy,
        ));
    }
    if let Some(at) = declarations.too_long(MAX_FUNCTION_TOKENS) {
        let what = "one token more, in a function or outside of functions";
        let (name, remedy) = ("MAX_FUNCTION_TOKENS", "make functions of parts of it");
        return Err(exceeded(
            source,
            at,
            what,
            MAX_FUNCTION_TOKENS,
            name,
            remedy,
        ));
    }
    if let Some(at) = declarations.variable_at(MAX_VARIABLES) {
        let (what, remedy) = (
            "one variable more",
            "put variables into structures or arrays",
        );
        return Err(exceeded(
            source,
            at,
            what,
            MAX_VARIABLES,
            "MAX_VARIABLES",
            remedy,
        ));
    }
    if let Some(at) = declarations.member_at(tokens, MAX_MEMBERS) {
        let (what, remedy) = ("one member more", "make an array of the members");
        return Err(exceeded(
            source,
            at,
            what,
            MAX_MEMBERS,
            "MAX_MEMBERS",
            remedy,
        ));
    }
    Ok(())
}

impl<'a> Scan<'a> {
    fn new(source: &'a str) -> Self {
        Self {
            source,
            levels: vec![Level::new(0)],
            templates: Vec::new(),
            lists: Lists::default(),
            before: None,
            deepest: [0; 3],
        }
    }

    fn top(&mut self) -> Option<&mut Level> {
        self.levels.last_mut()
    }

    /// Processes the next token.
    fn step(&mut self, index: usize, at: usize, token: Token<'a>) -> Result<(), String> {
        let before = self.before.replace(token);
        // A chain of `else if` ends behind its last block.
        let ends = before == Some(Token::Close(b'}')) && token != Token::Word("else");
        if let Some(top) = self.top().filter(|_| ends) {
            top.alternatives = 0;
        }
        match token {
            Token::Open(bracket) => self.open(at, bracket)?,
            Token::Close(_) => self.close(),
            Token::Comma => self.restart(),
            Token::Semicolon => {
                self.templates.clear();
                self.restart();
            }
            Token::Colon | Token::Assign => self.templates.clear(),
            Token::Logical => {
                self.close_templates();
                self.operator(at)?;
            }
            Token::Less => {
                if matches!(before, Some(Token::Word(_))) {
                    let level = self.levels.len();
                    self.templates.push(Template {
                        index,
                        level,
                        inner: 0,
                    });
                    self.deepest[0] = self.deepest[0].max(level + self.templates.len());
                }
                self.operator(at)?;
            }
            Token::Greater => self.greater(index, at)?,
            Token::Operator(_) => self.operator(at)?,
            Token::Dot => self.access(at)?,
            Token::Word("if") if before == Some(Token::Word("else")) => self.alternative(at)?,
            Token::Word("else") => {}
            Token::Word(_) | Token::Number(_) | Token::At => {}
        }
        Ok(())
    }

    fn restart(&mut self) {
        if let Some(top) = self.top() {
            top.restart();
        }
    }

    fn open(&mut self, at: usize, bracket: u8) -> Result<(), String> {
        if bracket == b'{' {
            self.templates.clear();
            self.restart();
        } else {
            self.access(at)?;
        }
        self.levels.push(Level::new(bracket));
        self.nested(at, 0)
    }

    fn close(&mut self) {
        self.close_templates();
        // The parser reports unbalanced brackets.
        if self.levels.len() < 2 {
            return;
        }
        let Some(closed) = self.levels.pop() else {
            return;
        };
        let height = closed.done.max(closed.height());
        if let Some(top) = self.top() {
            if closed.bracket == b'{' {
                top.restart();
            } else {
                top.inner = top.inner.max(top.accesses + height);
            }
        }
    }

    /// Discards the `<` seen inside the current brackets: they did not begin template lists.
    fn close_templates(&mut self) {
        let level = self.levels.len();
        while self
            .templates
            .last()
            .is_some_and(|open| open.level >= level)
        {
            self.templates.pop();
        }
    }

    fn greater(&mut self, index: usize, at: usize) -> Result<(), String> {
        let level = self.levels.len();
        let Some(closed) = self.templates.pop_if(|open| open.level == level) else {
            return self.operator(at);
        };
        let height = closed.inner + 1;
        self.lists.add(closed.index, index, height);
        if let Some(around) = self.templates.last_mut() {
            around.inner = around.inner.max(height);
        }
        self.nested(at, height)
    }

    fn alternative(&mut self, at: usize) -> Result<(), String> {
        if let Some(top) = self.top() {
            top.alternatives += 1;
        }
        self.nested(at, 0)
    }

    fn operator(&mut self, at: usize) -> Result<(), String> {
        let Some(top) = self.top() else {
            return Ok(());
        };
        top.operators += 1;
        top.accesses = 0;
        self.check_height(at)
    }

    fn access(&mut self, at: usize) -> Result<(), String> {
        let Some(top) = self.top() else {
            return Ok(());
        };
        top.accesses += 1;
        top.inner = top.inner.max(top.accesses);
        self.check_height(at)
    }

    fn check_height(&mut self, at: usize) -> Result<(), String> {
        let (around, top) = match self.levels.split_last() {
            Some((top, around)) => (around, top.height()),
            None => return Ok(()),
        };
        let own = |level: &Level| level.operators + level.accesses;
        let n = top + around.iter().map(own).sum::<usize>();
        self.deepest[1] = self.deepest[1].max(n);
        if n > MAX_OPERATORS {
            let what = format_args!("{n} operators, calls and accesses in one expression");
            let remedy = "give parts of it names, with `let`";
            return Err(exceeded(
                self.source,
                at,
                what,
                MAX_OPERATORS,
                "MAX_OPERATORS",
                remedy,
            ));
        }
        Ok(())
    }

    /// Checks the nesting depth of the current token, inside `templates` template lists.
    fn nested(&mut self, at: usize, templates: usize) -> Result<(), String> {
        let alternatives: usize = self.levels.iter().map(|level| level.alternatives).sum();
        let n = self.levels.len() - 1 + alternatives + templates;
        self.deepest[0] = self.deepest[0].max(n);
        if n > MAX_NESTING {
            let what = format_args!("{n} brackets, template lists and `else if` inside each other");
            let remedy = "use functions, `switch` or `alias`";
            return Err(exceeded(
                self.source,
                at,
                what,
                MAX_NESTING,
                "MAX_NESTING",
                remedy,
            ));
        }
        Ok(())
    }
}
