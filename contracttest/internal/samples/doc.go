// Package samples holds adapters that are right, of the shapes that real ones have: what the suites of contracttest must
// pass without a false alarm, and what broken adapters are made from.
package samples
