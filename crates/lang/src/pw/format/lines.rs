//! Pieces to lines: where lines begin, how they are indented, and what stands in them.

use super::{Piece, Role, spacing};

/// A line of the result, without its end.
#[derive(Default)]
pub(super) struct Line {
    /// Blanks before the text.
    pub indent: usize,
    /// Everything but the indentation and the comment at the end.
    pub text: String,
    /// The comment at the end.
    pub comment: Option<String>,
    /// Whether a blank line stands before it.
    pub has_blank_before: bool,
    /// Where the user put that comment.
    pub comment_column: usize,
    /// Whether it goes on with what the line before it began, or holds a comment only. Such lines do not come between
    /// others that are aligned with each other.
    pub is_transparent: bool,
    /// Where padding may be put into the text, to align what follows with other lines.
    pub stops: Stops,
}

/// The places in a line's text that are aligned.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Stops {
    /// Nothing to align.
    #[default]
    Nothing,
    /// After the colon of the last label.
    Label(usize),
    /// After the keyword of a property, and after the colon behind its name.
    Property(usize, usize),
    /// Likewise for a variable.
    Variable(usize, usize),
    /// After `either` or `or` before a block on one line.
    Branch(usize),
}

/// Lays the pieces out; `is_inline` says which of them stand in braces that stay on one line.
pub(super) fn lines(pieces: &[Piece<'_>], is_inline: &[bool]) -> Vec<Line> {
    let mut layout =
        Layout { pieces, is_inline, next_tokens: next_tokens(pieces), lines: Vec::new(), depth: 0, last_token: None };
    (0..pieces.len()).for_each(|at| layout.add(at));
    layout.lines
}

/// For each piece the role of the first token at or after it.
fn next_tokens(pieces: &[Piece<'_>]) -> Vec<Option<Role>> {
    let mut next = None;
    let mut roles: Vec<Option<Role>> = vec![None; pieces.len()];
    for (at, piece) in pieces.iter().enumerate().rev() {
        if !piece.is_comment() {
            next = Some(piece.role);
        }
        roles[at] = next;
    }
    roles
}

/// The text of the lines.
pub(super) fn to_text(lines: &[Line]) -> String {
    let mut text = String::new();
    for line in lines {
        if line.has_blank_before {
            text.push('\n');
        }
        let mut whole = " ".repeat(line.indent);
        whole.push_str(&line.text);
        if let Some(comment) = &line.comment {
            whole.push_str(comment);
        }
        text.push_str(whole.trim_end());
        text.push('\n');
    }
    text
}

/// How far what goes on from the line before is indented.
const CONTINUATION: usize = 4;

struct Layout<'s, 'p> {
    pieces: &'p [Piece<'s>],
    is_inline: &'p [bool],
    /// For each piece the role of the first token at or after it.
    next_tokens: Vec<Option<Role>>,
    /// The role of the last token that was laid out.
    last_token: Option<Role>,
    lines: Vec<Line>,
    /// How many blocks are open that do not stand on one line.
    depth: usize,
}

impl Layout<'_, '_> {
    fn add(&mut self, at: usize) {
        let piece = &self.pieces[at];
        let opens = matches!(piece.role, Role::BlockOpen | Role::ListOpen) && !self.is_inline[at];
        let closes = matches!(piece.role, Role::BlockClose | Role::ListClose) && !self.is_inline[at];
        self.depth -= usize::from(closes);
        if at == 0 || self.breaks_before(at) {
            self.begin_line(at);
        }
        if self.is_trailing_comment(at) {
            self.add_comment(piece);
        } else {
            self.add_text(at);
        }
        self.depth += usize::from(opens);
        if !piece.is_comment() {
            self.last_token = Some(piece.role);
        }
    }

    /// Whether a piece begins a line.
    fn breaks_before(&self, at: usize) -> bool {
        let (before, piece) = (&self.pieces[at - 1], &self.pieces[at]);
        if piece.is_comment() {
            return before.is_line_comment() || piece.n_line_ends_before > 0;
        }
        before.is_line_comment() || self.is_trailing_comment(at - 1) || self.wants_break(at)
    }

    /// Whether a token begins a line, if what stands before it allows it to be on its line.
    fn wants_break(&self, at: usize) -> bool {
        let (before, piece) = (&self.pieces[at - 1], &self.pieces[at]);
        match piece.role {
            Role::Start => !self.is_inline[at],
            Role::BlockClose | Role::ListClose => {
                let is_empty = matches!(before.role, Role::BlockOpen | Role::ListOpen);
                !self.is_inline[at] && !is_empty
            }
            Role::BlockOpen | Role::ListOpen | Role::Tight => false,
            Role::LabelColon | Role::PropertyColon | Role::VariableColon => false,
            Role::Plain | Role::Prefix | Role::Infix => {
                let joins_block = before.role == Role::BlockClose && !self.is_inline[at];
                let clings = !spacing::has_blank(before, piece) || before.role == Role::LabelColon || joins_block;
                piece.n_line_ends_before > 0 && !clings
            }
        }
    }

    /// Whether a piece is a comment at the end of a line that holds something else, too.
    fn is_trailing_comment(&self, at: usize) -> bool {
        let piece = &self.pieces[at];
        if !piece.is_comment() || at == 0 || piece.n_line_ends_before > 0 || self.pieces[at - 1].is_line_comment() {
            return false;
        }
        let ends_line = match self.pieces.get(at + 1) {
            None => true,
            Some(next) if next.is_comment() => next.n_line_ends_before > 0,
            Some(_) => self.wants_break(at + 1),
        };
        piece.is_line_comment() || ends_line
    }

    fn begin_line(&mut self, at: usize) {
        let goes_on = self.goes_on(at);
        let after_opening = at > 0 && matches!(self.pieces[at - 1].role, Role::BlockOpen | Role::ListOpen);
        let is_closing = matches!(self.pieces[at].role, Role::BlockClose | Role::ListClose);
        let has_blank_before = self.pieces[at].n_line_ends_before > 1 && at > 0;
        self.lines.push(Line {
            indent: 2 * self.depth + if goes_on { CONTINUATION } else { 0 },
            has_blank_before: has_blank_before && !after_opening && !is_closing && !goes_on,
            is_transparent: goes_on || self.pieces[at].is_comment(),
            ..Line::default()
        });
    }

    /// Whether a piece that begins a line goes on with a statement or declaration that was begun before.
    fn goes_on(&self, at: usize) -> bool {
        let begins = matches!(self.next_tokens[at], None | Some(Role::Start | Role::BlockClose | Role::ListClose));
        let is_after_whole = matches!(self.last_token, None | Some(Role::BlockClose));
        !begins && !is_after_whole
    }

    fn add_comment(&mut self, piece: &Piece<'_>) {
        if let Some(line) = self.lines.last_mut() {
            line.comment = Some(piece.text.replace('\r', ""));
            line.comment_column = piece.column;
        }
    }

    fn add_text(&mut self, at: usize) {
        let piece = &self.pieces[at];
        let Some(line) = self.lines.last_mut() else { return };
        if piece.role == Role::BlockOpen && self.is_inline[at] && matches!(line.text.as_str(), "either" | "or") {
            line.stops = Stops::Branch(line.text.len());
        }
        if !line.text.is_empty() && spacing::has_blank(&self.pieces[at - 1], piece) {
            line.text.push(' ');
        }
        line.text.push_str(&piece.text.replace('\r', ""));
        let end = line.text.len();
        match piece.role {
            Role::LabelColon if begins_with_labels(line) => line.stops = Stops::Label(end),
            Role::PropertyColon => line.stops = Stops::Property(keyword_end(line), end),
            Role::VariableColon => line.stops = Stops::Variable(keyword_end(line), end),
            _ => {}
        }
    }
}

/// Whether nothing but labels stands in the line, which ends with one.
fn begins_with_labels(line: &Line) -> bool {
    match line.stops {
        Stops::Label(end) => !line.text[end..].contains([';', '{']),
        _ => !line.text.contains(' '),
    }
}

fn keyword_end(line: &Line) -> usize {
    line.text.find(' ').unwrap_or(line.text.len())
}

impl Line {
    /// How many columns the line has without its comment.
    pub fn width(&self) -> usize {
        let last = self.text.rsplit('\n').next().unwrap_or_default();
        let indent = if last.len() == self.text.len() { self.indent } else { 0 };
        indent + last.trim_end().chars().count()
    }
}
