//! Many hosts: independent questions dealt out over them, and one search in the memories of all.
//!
//! [`mod@file`]: which hosts there are. [`call`]: what a host is asked, and how it is reached, by ssh or as a child of this process. [`farm`]: many
//! questions, each on one host. `search` (a feature): one search in the memories of all.

pub mod call;
pub mod farm;
pub mod file;
#[cfg(feature = "search")]
pub mod search;
