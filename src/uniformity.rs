//! Which values agree over which group of threads.

pub mod evaluate;
pub mod extent;
pub mod facts;
pub mod memory;
pub mod shape;
pub mod solve;
pub mod state;
pub mod symbols;
