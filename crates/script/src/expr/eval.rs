//! Runs an expression's code over a client's variables and its random stream.

use super::code::{ARGS_MAX, Expr, Function, Op, Shortcut, is_drawable};
use crate::error::RunError;
use crate::names::Names;
use crate::random::{Prng, hash_fnv1a, hash_murmur2, permute};
use crate::value::Value;
use crate::vars::Vars;

/// What an expression is evaluated with.
pub struct Env<'a> {
    /// The client's variables. Mutable because reading a text gives it its type.
    pub vars: &'a mut Vars,
    /// The client's stream.
    pub prng: &'a mut Prng,
    /// For messages.
    pub names: &'a Names,
    /// The script's number, from 0, for `debug()`.
    pub script: usize,
    /// The command's number, from 0, for `debug()`.
    pub command: usize,
    /// Gets the line that `debug()` prints, without newline.
    pub debug: &'a mut dyn FnMut(&str),
}

impl std::fmt::Debug for Env<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Env")
            .field("script", &self.script)
            .field("command", &self.command)
            .finish_non_exhaustive()
    }
}

/// Deep enough for anything that people write; deeper code gets a vector.
const STACK_INLINE: usize = 16;

type Evaluated = Result<Value, RunError>;

impl Expr {
    /// Its value. Allocates nothing, unless it nests unusually deep, calls `debug` or fails.
    ///
    /// # Errors
    /// Everything that section "Built-In Operators" and "Built-In Functions" of pgbench's manual forbids.
    #[inline]
    pub fn eval(&self, env: &mut Env<'_>) -> Evaluated {
        match self.shortcut {
            Shortcut::Const(value) => return Ok(value),
            Shortcut::Var(slot) => return env.vars.value(slot, env.names),
            Shortcut::Random { lo, hi } => return Ok(Value::Int(env.prng.uniform(lo, hi))),
            Shortcut::RandomScaled { lo, factor, slot } => {
                if let Some(Value::Int(scale)) = env.vars.peek(slot)
                    && let Some(hi) = factor.checked_mul(scale)
                    && is_drawable(lo, hi)
                {
                    return Ok(Value::Int(env.prng.uniform(lo, hi)));
                }
            }
            Shortcut::None => {}
        }
        self.eval_general(env)
    }

    fn eval_general(&self, env: &mut Env<'_>) -> Evaluated {
        if self.depth <= STACK_INLINE {
            run(&self.code, &mut [Value::Null; STACK_INLINE], env)
        } else {
            run(&self.code, &mut vec![Value::Null; self.depth], env)
        }
    }
}

fn run(code: &[Op], stack: &mut [Value], env: &mut Env<'_>) -> Evaluated {
    let (mut at, mut top) = (0, 0);
    while let Some(op) = code.get(at) {
        at += 1;
        match *op {
            Op::Const(value) => {
                stack[top] = value;
                top += 1;
            }
            Op::Var(slot) => {
                stack[top] = env.vars.value(slot, env.names)?;
                top += 1;
            }
            Op::Call(function, args) => {
                let base = top - usize::from(args);
                let value = call(function, &stack[base..top], env)?;
                stack[base] = value;
                top = base + 1;
            }
            Op::TooManyArguments => return Err(RunError::TooManyArguments),
            Op::And(jump) => match stack[top - 1] {
                Value::Null => at += jump as usize,
                left if left.to_bool()? => top -= 1,
                _ => at += jump as usize,
            },
            Op::Or(jump) => match stack[top - 1] {
                Value::Null => at += jump as usize,
                left if left.to_bool()? => at += jump as usize,
                _ => top -= 1,
            },
            Op::Logic => {
                if stack[top - 1] != Value::Null {
                    stack[top - 1].to_bool()?;
                }
            }
            Op::JumpUnless(jump) => {
                top -= 1;
                if !stack[top].is_true() {
                    at += jump as usize;
                }
            }
            Op::Jump(jump) => at += jump as usize,
        }
    }
    Ok(stack[top - 1])
}

/// Applies a function to its arguments, all of which are evaluated.
fn call(function: Function, args: &[Value], env: &mut Env<'_>) -> Evaluated {
    use Function as F;
    let keeps_null = matches!(function, F::Is | F::Debug);
    if !keeps_null && args.contains(&Value::Null) {
        return Ok(Value::Null);
    }
    match (function, args) {
        (F::Add | F::Sub | F::Mul | F::Div | F::Mod | F::Eq | F::Ne | F::Lt | F::Le, [a, b]) => {
            arithmetic(function, *a, *b)
        }
        (F::BitAnd | F::BitOr | F::BitXor | F::ShiftLeft | F::ShiftRight, [a, b]) => {
            Ok(Value::Int(bits(function, a.to_int()?, b.to_int()?)))
        }
        (F::Not, [a]) => Ok(Value::Bool(!a.to_bool()?)),
        (F::Is, [a, b]) => Ok(Value::Bool(a == b)),
        (F::Abs, [a]) => Ok(match *a {
            Value::Int(int) => Value::Int(int.wrapping_abs()),
            Value::Double(double) if double < 0.0 => Value::Double(-double),
            // pgbench takes a boolean's bits for a double here.
            Value::Bool(truth) => Value::Double(f64::from_bits(u64::from(truth))),
            other => other,
        }),
        (F::Debug, [a]) => {
            (env.debug)(&debug_line(env.script, env.command, *a));
            Ok(*a)
        }
        (F::Double, [a]) => Ok(Value::Double(a.to_double()?)),
        (F::Int, [a]) => Ok(Value::Int(a.to_int()?)),
        (F::Exp, [a]) => Ok(Value::Double(a.to_double()?.exp())),
        (F::Ln, [a]) => Ok(Value::Double(a.to_double()?.ln())),
        (F::Sqrt, [a]) => Ok(Value::Double(a.to_double()?.sqrt())),
        (F::Pi, []) => Ok(Value::Double(std::f64::consts::PI)),
        (F::Pow, [a, b]) => Ok(Value::Double(a.to_double()?.powf(b.to_double()?))),
        (F::Greatest | F::Least, _) => extreme(function, args),
        (F::Random, [lo, hi]) => {
            let (lo, hi) = range(*lo, *hi)?;
            Ok(Value::Int(env.prng.uniform(lo, hi)))
        }
        (F::RandomExponential | F::RandomGaussian | F::RandomZipfian, [lo, hi, param]) => {
            let (lo, hi) = range(*lo, *hi)?;
            shaped(function, lo, hi, param.to_double()?, env.prng)
        }
        (F::HashMurmur2, [a, seed]) => Ok(Value::Int(hash_murmur2(a.to_int()?, seed.to_int()?))),
        (F::HashFnv1a, [a, seed]) => Ok(Value::Int(hash_fnv1a(a.to_int()?, seed.to_int()?))),
        (F::Permute, [a, size, seed]) => {
            let (a, size, seed) = (a.to_int()?, size.to_int()?, seed.to_int()?);
            if size <= 0 {
                return Err(RunError::PermuteSize);
            }
            Ok(Value::Int(permute(a, size, seed)))
        }
        // The parser gives every function as many arguments as it takes.
        _ => Err(RunError::TooManyArguments),
    }
}

fn arithmetic(function: Function, a: Value, b: Value) -> Evaluated {
    let double = matches!(a, Value::Double(_)) || matches!(b, Value::Double(_));
    if double && function != Function::Mod {
        return Ok(double_arithmetic(function, a.to_double()?, b.to_double()?));
    }
    int_arithmetic(function, a.to_int()?, b.to_int()?)
}

fn double_arithmetic(function: Function, a: f64, b: f64) -> Value {
    match function {
        Function::Add => Value::Double(a + b),
        Function::Sub => Value::Double(a - b),
        Function::Mul => Value::Double(a * b),
        Function::Div => Value::Double(a / b),
        Function::Eq => Value::Bool(a == b),
        Function::Ne => Value::Bool(a != b),
        Function::Lt => Value::Bool(a < b),
        _ => Value::Bool(a <= b),
    }
}

fn int_arithmetic(function: Function, a: i64, b: i64) -> Evaluated {
    let checked = |result: Option<i64>, operation| {
        result.map(Value::Int).ok_or(RunError::IntOverflow { operation })
    };
    match function {
        Function::Add => checked(a.checked_add(b), "add"),
        Function::Sub => checked(a.checked_sub(b), "sub"),
        Function::Mul => checked(a.checked_mul(b), "mul"),
        Function::Div | Function::Mod if b == 0 => Err(RunError::DivisionByZero),
        Function::Div => checked(a.checked_div(b), "div"),
        Function::Mod => Ok(Value::Int(a.wrapping_rem(b))),
        Function::Eq => Ok(Value::Bool(a == b)),
        Function::Ne => Ok(Value::Bool(a != b)),
        Function::Lt => Ok(Value::Bool(a < b)),
        _ => Ok(Value::Bool(a <= b)),
    }
}

fn bits(function: Function, a: i64, b: i64) -> i64 {
    match function {
        Function::BitAnd => a & b,
        Function::BitOr => a | b,
        Function::BitXor => a ^ b,
        // The count is taken modulo 64, as the usual processors do.
        Function::ShiftLeft => a.wrapping_shl(b as u32),
        _ => a.wrapping_shr(b as u32),
    }
}

fn extreme(function: Function, args: &[Value]) -> Evaluated {
    debug_assert!(args.len() <= ARGS_MAX, "the parser emits the error instead");
    let greatest = function == Function::Greatest;
    if args.iter().any(|arg| matches!(arg, Value::Double(_))) {
        // Not f64::max: with NaN the later argument wins, as C's comparison has it.
        let mut best = first(args)?.to_double()?;
        for arg in args.iter().skip(1) {
            let next = arg.to_double()?;
            let keep = if greatest { best > next } else { best < next };
            best = if keep { best } else { next };
        }
        return Ok(Value::Double(best));
    }
    let mut best = first(args)?.to_int()?;
    for arg in args.iter().skip(1) {
        let next = arg.to_int()?;
        best = if greatest { best.max(next) } else { best.min(next) };
    }
    Ok(Value::Int(best))
}

fn first(args: &[Value]) -> Evaluated {
    args.first().copied().ok_or(RunError::TooManyArguments)
}

fn range(lo: Value, hi: Value) -> Result<(i64, i64), RunError> {
    let (lo, hi) = (lo.to_int()?, hi.to_int()?);
    if lo > hi {
        return Err(RunError::EmptyRange);
    }
    if !is_drawable(lo, hi) {
        return Err(RunError::RangeTooLarge);
    }
    Ok((lo, hi))
}

fn shaped(function: Function, lo: i64, hi: i64, param: f64, prng: &mut Prng) -> Evaluated {
    /// Below two deviations the rejection of gaussian draws gets too frequent.
    const GAUSSIAN_MIN: f64 = 2.0;
    const ZIPFIAN_MIN: f64 = 1.001;
    const ZIPFIAN_MAX: f64 = 1000.0;
    Ok(Value::Int(match function {
        Function::RandomGaussian => {
            if param < GAUSSIAN_MIN {
                return Err(RunError::GaussianParam { param });
            }
            prng.gaussian(lo, hi, param)
        }
        Function::RandomZipfian => {
            if !(ZIPFIAN_MIN..=ZIPFIAN_MAX).contains(&param) {
                return Err(RunError::ZipfianParam { param });
            }
            prng.zipfian(lo, hi, param)
        }
        _ => {
            if param <= 0.0 {
                return Err(RunError::ExponentialParam { param });
            }
            prng.exponential(lo, hi, param)
        }
    }))
}

#[cold]
fn debug_line(script: usize, command: usize, value: Value) -> String {
    let text = match value {
        Value::Null => "null".to_owned(),
        other => format!("{} {other}", other.type_name()),
    };
    format!("debug(script={script},command={}): {text}", command + 1)
}
