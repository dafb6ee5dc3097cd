//! Expressions and types to text, for messages.
//!
//! In: a tree, from the parser or made up. Out: text that parses to the same tree, with the keyword spelling of each
//! operator and only the parentheses that are needed. (The formatter does not use it: it keeps the user's spelling.)

use super::ast::{
    BinaryOp, Binders, Domain, Expr, ExprKind, Extremum, Ident, Members, NamedField, Places, Quantifier, Range,
    RangeEnd, Type, TypeKind, UnaryOp,
};
use super::parser::Level;

/// The text of an expression.
pub fn expr_to_string(expr: &Expr) -> String {
    let mut text = String::new();
    write_expr(&mut text, expr, Level::Implication);
    text
}

/// The text of a type.
pub fn type_to_string(ty: &Type) -> String {
    match &ty.kind {
        TypeKind::Bool => "bool".to_string(),
        TypeKind::Range(range) => range_to_string(range),
        TypeKind::Named(name) => name.name.clone(),
        TypeKind::Pid { family, optional } => {
            let family = family.as_ref().map_or(String::new(), |family| format!("({})", family.name));
            format!("pid{family}{}", if *optional { "?" } else { "" })
        }
        TypeKind::Sem { bound: None } => "sem".to_string(),
        TypeKind::Sem { bound: Some(bound) } => format!("sem({})", expr_to_string(bound)),
        TypeKind::Lock => "lock".to_string(),
        TypeKind::Set(element) => format!("set of {}", type_to_string(element)),
        TypeKind::Array { element, length } => format!("[{}; {}]", type_to_string(element), expr_to_string(length)),
    }
}

/// The text of a range.
pub fn range_to_string(range: &Range) -> String {
    let mut text = String::new();
    write_expr(&mut text, &range.low, Level::Sum);
    text.push_str(if range.end == RangeEnd::Included { "..=" } else { "..<" });
    write_expr(&mut text, &range.high, Level::Sum);
    text
}

/// The keyword or sign of an operator between operands.
pub fn binary_op_text(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Implies => "=>",
        BinaryOp::Iff => "<=>",
        BinaryOp::LeadsTo => "~>",
        BinaryOp::Until => "until",
        BinaryOp::WeakUntil => "weakuntil",
        BinaryOp::Releases => "releases",
        BinaryOp::StrongReleases => "M",
        BinaryOp::Xor => "xor",
        BinaryOp::Or => "||",
        BinaryOp::And => "&&",
        BinaryOp::Equal => "==",
        BinaryOp::Unequal => "!=",
        BinaryOp::Less => "<",
        BinaryOp::LessEqual => "<=",
        BinaryOp::Greater => ">",
        BinaryOp::GreaterEqual => ">=",
        BinaryOp::Add => "+",
        BinaryOp::Subtract => "-",
        BinaryOp::Multiply => "*",
        BinaryOp::Divide => "/",
        BinaryOp::Modulo => "%",
    }
}

/// The keyword or sign of an operator before its operand.
pub fn unary_op_text(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::Not => "!",
        UnaryOp::Negate => "-",
        UnaryOp::Always => "always",
        UnaryOp::Eventually => "eventually",
        UnaryOp::Next => "next",
    }
}

/// Writes an expression where nothing may bind looser than `loosest`.
fn write_expr(text: &mut String, expr: &Expr, loosest: Level) {
    if needs_parens(expr, loosest) {
        text.push('(');
        write_expr(text, expr, Level::Implication);
        text.push(')');
        return;
    }
    match &expr.kind {
        ExprKind::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
        ExprKind::Int(value) => text.push_str(&value.to_string()),
        ExprKind::None => text.push_str("none"),
        ExprKind::Star => text.push('*'),
        ExprKind::Name(name) => text.push_str(&name.name),
        ExprKind::Index { base, index } => {
            write_expr(text, base, Level::Unary);
            text.push('[');
            write_expr(text, index, Level::Implication);
            text.push(']');
        }
        ExprKind::Field { base, field } => {
            write_expr(text, base, Level::Unary);
            text.push('.');
            text.push_str(&field.name);
        }
        ExprKind::At { process, places } => {
            if let Some(process) = process {
                write_expr(text, process, Level::Unary);
            }
            write_places(text, places);
        }
        ExprKind::Unary { op, operand, .. } => write_unary(text, *op, operand),
        ExprKind::Binary { op, left, right, .. } => {
            let level = Level::of(*op);
            write_left(text, left, if level.chains() { level } else { level.tighter() });
            text.push_str(&format!(" {} ", binary_op_text(*op)));
            write_expr(text, right, level.tighter());
        }
        ExprKind::AsPid { operand, family } => {
            write_expr(text, operand, Level::Cast);
            text.push_str(" as pid");
            if let Some(family) = family {
                text.push_str(&format!("({})", family.name));
            }
        }
        ExprKind::If { condition, then, otherwise } => {
            for (word, part) in [("if ", condition), (" then ", then), (" else ", otherwise)] {
                text.push_str(word);
                write_expr(text, part, Level::Implication);
            }
        }
        ExprKind::Quantified { quantifier, binders, body } => write_quantified(text, *quantifier, binders, body),
        ExprKind::Extremum { extremum, operands } => {
            text.push_str(if *extremum == Extremum::Min { "min(" } else { "max(" });
            write_list(text, operands);
            text.push(')');
        }
        ExprKind::Apply { name, arguments } => {
            text.push_str(&name.name);
            text.push('(');
            write_list(text, arguments);
            text.push(')');
        }
        ExprKind::Record { name, fields } => write_record(text, &name.name, fields),
        ExprKind::Array(elements) => {
            text.push('[');
            write_list(text, elements);
            text.push(']');
        }
        ExprKind::ByIndex { variable, value } => {
            text.push_str(&format!("[{}: ", variable.name));
            write_expr(text, value, Level::Implication);
            text.push(']');
        }
        ExprKind::Set(elements) => {
            text.push('{');
            write_list(text, elements);
            text.push('}');
        }
        ExprKind::In { element, members } => {
            write_expr(text, element, Level::Sum);
            text.push_str(" in ");
            match members {
                Members::Set(set) => write_expr(text, set, Level::Sum),
                Members::Range(range) => text.push_str(&range_to_string(range)),
            }
        }
        ExprKind::Repeat { value, length } => {
            text.push('[');
            write_expr(text, value, Level::Implication);
            text.push_str("; ");
            write_expr(text, length, Level::Implication);
            text.push(']');
        }
    }
}

/// Writes a struct with its fields by name.
fn write_record(text: &mut String, name: &str, fields: &[NamedField]) {
    text.push_str(name);
    for (at, field) in fields.iter().enumerate() {
        text.push_str(if at == 0 { "(" } else { ", " });
        text.push_str(&format!("{}: ", field.name.name));
        write_expr(text, &field.value, Level::Implication);
    }
    text.push(')');
}

/// Writes a left operand. A temporal operator there gets parentheses that the grammar does not need but the reader
/// does.
fn write_left(text: &mut String, left: &Expr, loosest: Level) {
    let is_temporal = matches!(&left.kind, ExprKind::Unary { op, .. } if op.is_temporal());
    write_expr(text, left, if is_temporal { Level::Unary } else { loosest });
}

/// Quantifiers, `if then else` and temporal operators swallow what follows them, so they stand bare only where nothing
/// can follow, or nothing that they would swallow.
fn needs_parens(expr: &Expr, loosest: Level) -> bool {
    match &expr.kind {
        ExprKind::Binary { op, .. } => Level::of(*op) < loosest,
        ExprKind::AsPid { .. } => Level::Cast < loosest,
        ExprKind::In { .. } => Level::Comparison < loosest,
        ExprKind::If { .. } => Level::Implication < loosest,
        ExprKind::Quantified { quantifier, .. } => !quantifier.word().1 && Level::Implication < loosest,
        ExprKind::Unary { op, .. } if op.is_temporal() => Level::And < loosest,
        ExprKind::Unary { .. } => Level::Cast < loosest,
        _ => false,
    }
}

fn write_unary(text: &mut String, op: UnaryOp, operand: &Expr) {
    text.push_str(unary_op_text(op));
    let inner = match &operand.kind {
        ExprKind::Unary { op, .. } => Some(*op),
        _ => None,
    };
    // The operand of a temporal operator is a comparison or another temporal operator; that of a sign, another sign.
    // Two minus signs side by side would be one sign of another language.
    let loosest = match inner {
        Some(inner) if op.is_temporal() && inner.is_temporal() => Level::And,
        _ if op.is_temporal() => Level::Comparison,
        Some(inner) if !inner.is_temporal() && (op, inner) != (UnaryOp::Negate, UnaryOp::Negate) => Level::Cast,
        _ => Level::Unary,
    };
    if op.is_temporal() {
        text.push(' ');
    }
    write_expr(text, operand, loosest);
}

fn write_quantified(text: &mut String, quantifier: Quantifier, binders: &Binders, body: &Expr) {
    let (word, in_parens) = quantifier.word();
    text.push_str(word);
    text.push(if in_parens { '(' } else { ' ' });
    let join = if binders.distinct { " != " } else { ", " };
    let names: Vec<&str> = binders.names.iter().map(|name| name.name.as_str()).collect();
    text.push_str(&names.join(join));
    for other in &binders.other_than {
        text.push_str(" != ");
        write_expr(text, other, Level::Sum);
    }
    match &binders.domain {
        Some(Domain::Range(range)) => text.push_str(&format!(" in {}", range_to_string(range))),
        Some(Domain::Family(family)) => text.push_str(&format!(" in {}", family.name)),
        Some(Domain::Set(set)) => text.push_str(&format!(" in {}", expr_to_string(set))),
        None => {}
    }
    text.push_str(": ");
    write_expr(text, body, Level::Implication);
    if in_parens {
        text.push(')');
    }
}

fn write_places(text: &mut String, places: &Places) {
    text.push('@');
    let labels: Vec<&str> = places.labels.iter().map(|label: &Ident| label.name.as_str()).collect();
    match labels.as_slice() {
        [label] => text.push_str(label),
        _ => text.push_str(&format!("{{{}}}", labels.join(", "))),
    }
}

fn write_list(text: &mut String, list: &[Expr]) {
    for (n, element) in list.iter().enumerate() {
        if n > 0 {
            text.push_str(", ");
        }
        write_expr(text, element, Level::Implication);
    }
}
