//! Which values agree over which group of threads.

pub mod extent;
pub mod shape;
pub mod symbols;
pub mod facts;
pub mod state;
pub mod evaluate;
pub mod memory;
pub mod solve;
