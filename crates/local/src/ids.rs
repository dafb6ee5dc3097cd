//! What the numbers inside fixpoints are numbers of: none can be taken for another, and each is a `u32` at run time.

use base::Id;

/// Of a store: what a process and others see.
pub enum StoreMark {}
/// Of what only the process itself sees.
pub enum LocalMark {}
/// Of the values of all shared and public cells.
pub enum CellsMark {}
/// Of a vector with the block of every process.
pub enum BlocksMark {}
/// Of a class of turns: the process and its action.
pub enum ClassMark {}
/// Of a set of fairness assumptions that a turn satisfies.
pub enum KindMark {}
/// Of a node of an abstract process: a store and a local state there.
pub enum NodeMark {}

/// The number of a store.
pub type StoreId = Id<StoreMark>;
/// The number of a local state of one process, without its store.
pub type LocalId = Id<LocalMark>;
/// The number of the values of all shared and public cells.
pub type CellsId = Id<CellsMark>;
/// The number of a vector of blocks.
pub type BlocksId = Id<BlocksMark>;
/// The number of a class of turns.
pub type ClassId = Id<ClassMark>;
/// The number of a set of assumptions.
pub type KindId = Id<KindMark>;
/// The number of a node of an abstract process.
pub type NodeId = Id<NodeMark>;

/// A block of local states of one process that the exposed facts do not distinguish. There are few, and many vectors of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId(u16);

impl BlockId {
    /// The block with a position.
    pub fn new(index: usize) -> Self {
        BlockId(index as u16)
    }

    /// Its position.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}
