"""What test runners print, to `Tests`.

Read are pytest, unittest, `cargo test`, cargo-nextest, `go test`, jest, vitest, mocha, ava, bun,
deno, `node --test` and TAP. Text is the weaker witness: a test may print anything, also a runner's
own words. It is read line by line, in linear time, and what a tool only counts is not made into
names.
"""
