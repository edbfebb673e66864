//! Compiling with the real compilers: what loads, what is kept, what fails and how it says so.

mod audit;
mod caching;
mod failing;
mod groups;
mod lab;
mod lines;
mod loading;
