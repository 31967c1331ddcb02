//! The operators of expressions and how tightly they bind.

use super::code::Function;
use super::token::Token;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Or,
    And,
    Not,
    Is,
    Compare,
    Bit,
    Add,
    Mul,
    Unary,
}

impl Level {
    pub(super) fn above(self) -> Self {
        match self {
            Self::Or => Self::And,
            Self::And => Self::Not,
            Self::Not => Self::Is,
            Self::Is => Self::Compare,
            Self::Compare => Self::Bit,
            Self::Bit => Self::Add,
            Self::Add => Self::Mul,
            Self::Mul | Self::Unary => Self::Unary,
        }
    }
}

pub(super) enum Infix {
    Or,
    And,
    Is,
    Call(Function),
    /// `>` and `>=`: the right side is evaluated first.
    Swapped(Function),
}

pub(super) fn infix(token: Token<'_>) -> Option<(Level, Infix)> {
    use Infix::{Call, Swapped};
    Some(match token {
        Token::Or => (Level::Or, Infix::Or),
        Token::And => (Level::And, Infix::And),
        Token::Is | Token::IsNull | Token::NotNull => (Level::Is, Infix::Is),
        Token::Op(b'<') => (Level::Compare, Call(Function::Lt)),
        Token::Op(b'>') => (Level::Compare, Swapped(Function::Lt)),
        Token::Op(b'=') => (Level::Compare, Call(Function::Eq)),
        Token::LessEqual => (Level::Compare, Call(Function::Le)),
        Token::GreaterEqual => (Level::Compare, Swapped(Function::Le)),
        Token::NotEqual => (Level::Compare, Call(Function::Ne)),
        Token::Op(b'|') => (Level::Bit, Call(Function::BitOr)),
        Token::Op(b'#') => (Level::Bit, Call(Function::BitXor)),
        Token::Op(b'&') => (Level::Bit, Call(Function::BitAnd)),
        Token::ShiftLeft => (Level::Bit, Call(Function::ShiftLeft)),
        Token::ShiftRight => (Level::Bit, Call(Function::ShiftRight)),
        Token::Op(b'+') => (Level::Add, Call(Function::Add)),
        Token::Op(b'-') => (Level::Add, Call(Function::Sub)),
        Token::Op(b'*') => (Level::Mul, Call(Function::Mul)),
        Token::Op(b'/') => (Level::Mul, Call(Function::Div)),
        Token::Op(b'%') => (Level::Mul, Call(Function::Mod)),
        _ => return None,
    })
}

pub(super) fn begins_operand(token: Token<'_>) -> bool {
    matches!(
        token,
        Token::Op(b'(' | b'+' | b'-' | b'~')
            | Token::Not
            | Token::Null
            | Token::Bool(_)
            | Token::Int(_)
            | Token::Double(_)
            | Token::Var(_)
            | Token::Name(_)
            | Token::Case
    )
}
