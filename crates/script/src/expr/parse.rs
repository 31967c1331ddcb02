//! The grammar of expressions, by precedence climbing, straight into code.
//!
//! Low to high: OR, AND, NOT, the IS forms, comparisons (not associative),
//! bit operators with prefix `~`, `+ -`, `* / %`, unary `+ -`. A prefix operator of low
//! precedence inside a right operand takes all it can: `1 + NOT 2 = 3` is
//! `1 + (NOT (2 = 3))`.

use super::code::{ARGS_MAX, Arity, Expr, FUNCTIONS, Function, Node, Op, Shortcut, stack_depth};
use super::operator::{Infix, Level, begins_operand, infix};
use super::token::{BadToken, Lexer, Token};
use crate::names::{DEFAULT_SEED, Names};
use crate::value::Value;

/// Levels of nesting. The rules are recursive; PostgreSQL's own parser gives
/// up at ten thousand with the same words. An unoptimised build takes some 2 KiB of
/// stack a level, and a thread may have no more than 2 MiB.
const NESTING_MAX: usize = 400;

/// What is wrong with an expression, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) message: &'static str,
    pub(crate) more: Option<String>,
    /// Offset in the source of the last byte that was read.
    pub(crate) at: usize,
    /// Just behind the end of the line.
    pub(crate) end: usize,
}

/// Parses the expression at `start`; gives it and the offset behind its line.
pub(crate) fn parse(
    source: &[u8],
    start: usize,
    names: &mut Names,
) -> Result<(Expr, usize), Failure> {
    let mut parser = Parser {
        lexer: Lexer::new(source, start),
        ahead: None,
        code: Vec::new(),
        nodes: Vec::new(),
        names,
        nesting: 0,
    };
    match parser.whole() {
        Ok(()) => {
            let code = parser.code.into_boxed_slice();
            let expr = Expr {
                depth: stack_depth(&code),
                shortcut: Shortcut::of(&code),
                code,
                nodes: parser.nodes.into_boxed_slice(),
            };
            Ok((expr, parser.lexer.at))
        }
        Err(fault) => Err(parser.locate(fault)),
    }
}

#[derive(Debug)]
enum Fault {
    Grammar { message: &'static str, more: Option<String> },
    Word(BadToken),
}

impl From<BadToken> for Fault {
    fn from(bad: BadToken) -> Self {
        Self::Word(bad)
    }
}

fn syntax_error() -> Fault {
    Fault::Grammar { message: "syntax error", more: None }
}

struct Parser<'a, 'n> {
    lexer: Lexer<'a>,
    ahead: Option<Token<'a>>,
    code: Vec<Op>,
    nodes: Vec<Node>,
    names: &'n mut Names,
    nesting: usize,
}

type Parsed<T = u32> = Result<T, Fault>;

impl<'a> Parser<'a, '_> {
    // Words are read as late as possible: the caret shows the last byte read.
    fn peek(&mut self) -> Parsed<Token<'a>> {
        if let Some(token) = self.ahead {
            return Ok(token);
        }
        let token = self.lexer.next()?;
        self.ahead = Some(token);
        Ok(token)
    }

    fn take(&mut self) -> Parsed<Token<'a>> {
        let token = self.peek()?;
        self.ahead = None;
        Ok(token)
    }

    fn expect(&mut self, wanted: Token<'_>) -> Parsed<()> {
        if self.peek()? != wanted {
            return Err(syntax_error());
        }
        self.ahead = None;
        Ok(())
    }

    fn node(&mut self, node: Node) -> u32 {
        self.nodes.push(node);
        (self.nodes.len() - 1) as u32
    }

    fn constant(&mut self, value: Value) -> u32 {
        self.code.push(Op::Const(value));
        self.node(Node::Const(value))
    }

    fn call(&mut self, function: Function, args: &[u32]) -> u32 {
        // Few enough to fit a byte: more than ARGS_MAX never come here.
        self.code.push(Op::Call(function, args.len() as u8));
        self.node(Node::Call(function, args.into()))
    }

    fn whole(&mut self) -> Parsed<()> {
        self.expression(Level::Or)?;
        self.expect(Token::Finish)
    }

    fn expression(&mut self, least: Level) -> Parsed {
        self.nesting += 1;
        if self.nesting > NESTING_MAX {
            return Err(Fault::Grammar { message: "memory exhausted", more: None });
        }
        let start = self.code.len();
        let mut left = self.operand()?;
        while let Some((level, operator)) = infix(self.peek()?) {
            if level < least {
                break;
            }
            left = self.infix(level, &operator, start, left)?;
            if level == Level::Compare && matches!(infix(self.peek()?), Some((Level::Compare, _))) {
                return Err(syntax_error());
            }
        }
        self.nesting -= 1;
        Ok(left)
    }

    /// `start`: where the code of the left side begins.
    fn infix(&mut self, level: Level, operator: &Infix, start: usize, left: u32) -> Parsed {
        if let Infix::Is = operator {
            return self.is_form(left);
        }
        self.take()?;
        let middle = self.code.len();
        match operator {
            Infix::Or | Infix::And => {
                self.code.push(Op::Logic);
                let right = self.expression(level.above())?;
                self.code.push(Op::Logic);
                let jump = (self.code.len() - middle - 1) as u32;
                let (op, node) = match operator {
                    Infix::Or => (Op::Or(jump), Node::Or(left, right)),
                    _ => (Op::And(jump), Node::And(left, right)),
                };
                self.code[middle] = op;
                Ok(self.node(node))
            }
            Infix::Swapped(function) => {
                let right = self.expression(level.above())?;
                self.code[start..].rotate_left(middle - start);
                Ok(self.call(*function, &[right, left]))
            }
            Infix::Call(function) => {
                let right = self.expression(level.above())?;
                Ok(self.call(*function, &[left, right]))
            }
            Infix::Is => Ok(left),
        }
    }

    /// `IS [NOT] NULL|TRUE|FALSE`, `ISNULL`, `NOTNULL` behind `left`.
    fn is_form(&mut self, left: u32) -> Parsed {
        let (negated, value) = match self.take()? {
            Token::IsNull => (false, Value::Null),
            Token::NotNull => (true, Value::Null),
            _ => {
                let negated = self.peek()? == Token::Not;
                if negated {
                    self.take()?;
                }
                let value = match self.peek()? {
                    Token::Null => Value::Null,
                    Token::Bool(truth) => Value::Bool(truth),
                    _ => return Err(syntax_error()),
                };
                self.take()?;
                (negated, value)
            }
        };
        let right = self.constant(value);
        let is = self.call(Function::Is, &[left, right]);
        Ok(if negated { self.call(Function::Not, &[is]) } else { is })
    }

    fn operand(&mut self) -> Parsed {
        match self.peek()? {
            Token::Finish => return Err(syntax_error()),
            token if !begins_operand(token) => return Err(syntax_error()),
            _ => {}
        }
        match self.take()? {
            Token::Op(b'(') => {
                let inner = self.expression(Level::Or)?;
                self.expect(Token::Op(b')'))?;
                Ok(inner)
            }
            Token::Op(b'+') => self.expression(Level::Unary),
            Token::Op(b'-') => self.negative(),
            Token::Op(b'~') => {
                let ones = self.constant(Value::Int(-1));
                let operand = self.expression(Level::Add)?;
                Ok(self.call(Function::BitXor, &[ones, operand]))
            }
            Token::Not => {
                let operand = self.expression(Level::Not)?;
                Ok(self.call(Function::Not, &[operand]))
            }
            Token::Null => Ok(self.constant(Value::Null)),
            Token::Bool(truth) => Ok(self.constant(Value::Bool(truth))),
            Token::Int(int) => Ok(self.constant(Value::Int(int))),
            Token::Double(double) => Ok(self.constant(Value::Double(double))),
            Token::Var(name) => Ok(self.variable(name)),
            Token::Name(name) => self.function(name),
            _ => self.case(),
        }
    }

    fn variable(&mut self, name: &[u8]) -> u32 {
        let slot = self.names.intern(name);
        self.code.push(Op::Var(slot));
        self.node(Node::Var(slot))
    }

    fn negative(&mut self) -> Parsed {
        if self.peek()? == Token::IntMaxPlusOne {
            self.take()?;
            return Ok(self.constant(Value::Int(i64::MIN)));
        }
        let zero = self.constant(Value::Int(0));
        let operand = self.expression(Level::Unary)?;
        Ok(self.call(Function::Sub, &[zero, operand]))
    }

    fn function(&mut self, name: &[u8]) -> Parsed {
        let known = FUNCTIONS
            .iter()
            .find(|(known, ..)| !name.is_empty() && name.eq_ignore_ascii_case(known.as_bytes()));
        let Some(&(name, function, arity)) = known else {
            return Err(Fault::Grammar {
                message: "unexpected function name",
                more: Some(String::from_utf8_lossy(name).into_owned()),
            });
        };
        self.expect(Token::Op(b'('))?;
        let (mut args, mut kept) = (Vec::new(), self.code.len());
        if !matches!(self.peek()?, Token::Op(b')' | b',')) {
            args.push(self.expression(Level::Or)?);
            kept = self.code.len();
        }
        while self.peek()? == Token::Op(b',') {
            self.take()?;
            args.push(self.expression(Level::Or)?);
            if args.len() <= ARGS_MAX {
                kept = self.code.len();
            }
        }
        self.expect(Token::Op(b')'))?;
        self.check_arity(name, arity, &mut args)?;
        if args.len() > ARGS_MAX {
            // The arguments beyond are never evaluated.
            self.code.truncate(kept);
            self.code.push(Op::TooManyArguments);
            return Ok(self.node(Node::Call(function, args.into())));
        }
        Ok(self.call(function, &args))
    }

    fn check_arity(&mut self, name: &str, arity: Arity, args: &mut Vec<u32>) -> Parsed<()> {
        let (good, message) = match arity {
            Arity::Exactly(count) => (args.len() == count, "unexpected number of arguments"),
            Arity::AtLeastOne => (!args.is_empty(), "at least one argument expected"),
            Arity::Seeded(count) => {
                (args.len() == count || args.len() + 1 == count, "unexpected number of arguments")
            }
        };
        if !good {
            return Err(Fault::Grammar { message, more: Some(name.to_owned()) });
        }
        if arity == Arity::Seeded(args.len() + 1) {
            args.push(self.variable(DEFAULT_SEED.as_bytes()));
        }
        Ok(())
    }

    /// Behind CASE.
    fn case(&mut self) -> Parsed {
        let (mut children, mut to_end) = (Vec::new(), Vec::new());
        self.expect(Token::When)?;
        loop {
            children.push(self.expression(Level::Or)?);
            self.expect(Token::Then)?;
            let unless = self.code.len();
            self.code.push(Op::JumpUnless(0));
            children.push(self.expression(Level::Or)?);
            to_end.push(self.code.len());
            self.code.push(Op::Jump(0));
            self.code[unless] = Op::JumpUnless((self.code.len() - unless - 1) as u32);
            match self.peek()? {
                Token::When => self.take()?,
                _ => break,
            };
        }
        if self.peek()? == Token::Else {
            self.take()?;
            children.push(self.expression(Level::Or)?);
        } else if self.peek()? == Token::End {
            children.push(self.constant(Value::Null));
        }
        self.expect(Token::End)?;
        for jump in to_end {
            self.code[jump] = Op::Jump((self.code.len() - jump - 1) as u32);
        }
        Ok(self.node(Node::Case(children.into())))
    }

    /// pgbench reads on to the end of the line before it reports, and a bad
    /// word on the way takes the place of the first fault; so the last counts.
    fn locate(&mut self, fault: Fault) -> Failure {
        let failure = |fault, at: usize| match fault {
            Fault::Grammar { message, more } => Failure { message, more, at, end: 0 },
            Fault::Word(bad) => Failure { message: bad.message, more: Some(bad.text), at, end: 0 },
        };
        let mut last = failure(fault, self.lexer.at.saturating_sub(1));
        loop {
            match self.lexer.next() {
                Ok(Token::Finish) => break,
                Ok(_) => {}
                Err(bad) => last = failure(Fault::Word(bad), self.lexer.at.saturating_sub(1)),
            }
        }
        last.end = self.lexer.at;
        last
    }
}
