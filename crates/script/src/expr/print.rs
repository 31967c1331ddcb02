//! Prints an expression's tree as text that parses to the same value.

use std::fmt::Write;

use super::code::{Expr, FUNCTIONS, Function, Node};
use crate::names::Names;
use crate::value::Value;

enum Part {
    Node(u32),
    Text(&'static str),
}

impl Expr {
    /// The expression with all parentheses, operands in order of evaluation.
    #[must_use]
    pub fn to_text(&self, names: &Names) -> String {
        let mut out = String::new();
        // Not recursive: a long chain of operators is a deep tree.
        let root = (self.nodes.len() as u32).saturating_sub(1);
        let mut parts = vec![Part::Node(root)];
        while let Some(part) = parts.pop() {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Node(index) => {
                    let Some(node) = self.nodes.get(index as usize) else { continue };
                    print_node(node, names, &mut out, &mut parts);
                }
            }
        }
        out
    }
}

fn print_node(node: &Node, names: &Names, out: &mut String, parts: &mut Vec<Part>) {
    let base = parts.len();
    match node {
        Node::Const(value) => print_constant(*value, out),
        Node::Var(slot) => {
            out.push(':');
            out.push_str(&names.text(*slot));
        }
        Node::And(a, b) => push_infix(parts, *a, " AND ", *b),
        Node::Or(a, b) => push_infix(parts, *a, " OR ", *b),
        Node::Call(function, args) => match (operator(*function), &**args) {
            (Some(symbol), [a, b]) => push_infix(parts, *a, symbol, *b),
            (Some(symbol), [a]) => {
                parts.extend([Part::Text("("), Part::Text(symbol), Part::Node(*a)]);
                parts.push(Part::Text(")"));
            }
            _ => push_call(parts, *function, args),
        },
        Node::Case(children) => push_case(parts, children),
    }
    parts[base..].reverse();
}

fn print_constant(value: Value, out: &mut String) {
    // Writing to a String does not fail.
    let _ = match value {
        Value::Null => write!(out, "NULL"),
        Value::Bool(truth) => write!(out, "{}", if truth { "TRUE" } else { "FALSE" }),
        Value::Int(int) if int < 0 => write!(out, "({int})"),
        Value::Int(int) => write!(out, "{int}"),
        Value::Double(double) => write!(out, "{double:e}"),
    };
}

fn push_infix(parts: &mut Vec<Part>, a: u32, symbol: &'static str, b: u32) {
    parts.extend([Part::Text("("), Part::Node(a), Part::Text(symbol), Part::Node(b)]);
    parts.push(Part::Text(")"));
}

fn push_call(parts: &mut Vec<Part>, function: Function, args: &[u32]) {
    let name = FUNCTIONS.iter().find(|(_, known, _)| *known == function).map_or("", |row| row.0);
    parts.extend([Part::Text(name), Part::Text("(")]);
    for (index, arg) in args.iter().enumerate() {
        if index > 0 {
            parts.push(Part::Text(", "));
        }
        parts.push(Part::Node(*arg));
    }
    parts.push(Part::Text(")"));
}

fn push_case(parts: &mut Vec<Part>, children: &[u32]) {
    parts.push(Part::Text("CASE"));
    for pair in children.chunks(2) {
        match pair {
            [cond, value] => {
                parts.extend([Part::Text(" WHEN "), Part::Node(*cond)]);
                parts.extend([Part::Text(" THEN "), Part::Node(*value)]);
            }
            [otherwise] => parts.extend([Part::Text(" ELSE "), Part::Node(*otherwise)]),
            _ => {}
        }
    }
    parts.push(Part::Text(" END"));
}

fn operator(function: Function) -> Option<&'static str> {
    Some(match function {
        Function::Add => " + ",
        Function::Sub => " - ",
        Function::Mul => " * ",
        Function::Div => " / ",
        Function::Mod => " % ",
        Function::Eq => " = ",
        Function::Ne => " <> ",
        Function::Lt => " < ",
        Function::Le => " <= ",
        Function::BitAnd => " & ",
        Function::BitOr => " | ",
        Function::BitXor => " # ",
        Function::ShiftLeft => " << ",
        Function::ShiftRight => " >> ",
        Function::Not => "NOT ",
        Function::Is => " IS ",
        _ => return None,
    })
}
