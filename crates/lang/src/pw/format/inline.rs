//! Which lists and blocks stay on one line.
//!
//! A list (an enum, a fairness set) stays on one line if the user wrote it on one. A block does if, besides, it is that
//! of an `atomic` or holds only simple statements, all blocks of the statement (`if … else …`) do, and the line is not
//! too long. `else` and `or` may begin lines of their own then.

use super::{Piece, Role, TokenKind, spacing};

/// The longest line that a block is kept on.
const MAX_WIDTH: usize = 120;

/// For each piece, whether it stands in braces that stay on one line; the braces themselves count.
pub(super) fn pieces_kept_on_one_line(pieces: &[Piece<'_>]) -> Vec<bool> {
    let mut is_inline = vec![false; pieces.len()];
    let partners = partners(pieces);
    // Piece at which the current statement or declaration begins, per open block.
    let mut starts: Vec<usize> = vec![0];
    // Opening braces of statements with another block that does not stay on one line.
    let mut is_expanded = vec![false; pieces.len()];
    let mut at = 0;
    while at < pieces.len() {
        match pieces[at].role {
            Role::Start => {
                if let Some(start) = starts.last_mut() {
                    *start = at;
                }
            }
            Role::ListOpen if is_on_one_line(pieces, at, partners[at]) => {
                is_inline[at..=partners[at]].fill(true);
                at = partners[at];
            }
            Role::BlockOpen if is_expanded[at] => starts.push(at),
            Role::BlockOpen => {
                let chain = chain(pieces, &partners, at);
                let start = starts.last().copied().unwrap_or(0);
                if stays_on_one_line(pieces, start, starts.len() - 1, &chain) {
                    let last = chain.last().map_or(at, |&(_, close)| close);
                    is_inline[at..=last].fill(true);
                    at = last;
                } else {
                    chain.iter().for_each(|&(open, _)| is_expanded[open] = true);
                    starts.push(at);
                }
            }
            Role::BlockClose => {
                starts.pop();
            }
            _ => {}
        }
        at += 1;
    }
    is_inline
}

/// For each opening brace the index of its partner.
fn partners(pieces: &[Piece<'_>]) -> Vec<usize> {
    let mut partners: Vec<usize> = (0..pieces.len()).collect();
    let mut open = Vec::new();
    for (at, piece) in pieces.iter().enumerate() {
        match piece.kind {
            TokenKind::LeftBrace => open.push(at),
            TokenKind::RightBrace => {
                if let Some(opener) = open.pop() {
                    partners[opener] = at;
                }
            }
            _ => {}
        }
    }
    partners
}

/// The blocks of one statement, from the one that opens at `open` on: those after `else` and `or` belong to it.
fn chain(pieces: &[Piece<'_>], partners: &[usize], open: usize) -> Vec<(usize, usize)> {
    let mut chain = vec![(open, partners[open])];
    let mut close = partners[open];
    while pieces.get(close + 1).is_some_and(|next| matches!(next.text, "else" | "or")) {
        let next_open = (close + 1..pieces.len()).find(|&at| pieces[at].role == Role::BlockOpen);
        let Some(next_open) = next_open else { break };
        close = partners[next_open];
        chain.push((next_open, close));
    }
    chain
}

fn stays_on_one_line(pieces: &[Piece<'_>], start: usize, depth: usize, chain: &[(usize, usize)]) -> bool {
    if pieces[start].text == "program" {
        return false;
    }
    let (mut line_start, mut head) = (start, start);
    for &(open, close) in chain {
        if pieces[head].n_line_ends_before > 0 {
            line_start = head;
        }
        head = close + 1;
        let is_atomic = pieces[open - 1].text == "atomic";
        let is_simple = is_atomic || pieces[open + 1..close].iter().all(|piece| piece.role != Role::BlockOpen);
        let fits = 2 * depth + width(&pieces[line_start..=close]) <= MAX_WIDTH;
        if !is_simple || !fits || !is_on_one_line(pieces, line_start, close) {
            return false;
        }
    }
    true
}

/// Whether the user wrote these pieces on one line, without comments.
fn is_on_one_line(pieces: &[Piece<'_>], first: usize, last: usize) -> bool {
    let is_joined = pieces[first + 1..=last].iter().all(|piece| piece.n_line_ends_before == 0);
    is_joined && !pieces[first..=last].iter().any(Piece::is_comment)
}

fn width(pieces: &[Piece<'_>]) -> usize {
    let blanks = pieces.windows(2).filter(|pair| spacing::has_blank(&pair[0], &pair[1])).count();
    blanks + pieces.iter().map(|piece| piece.text.chars().count()).sum::<usize>()
}
