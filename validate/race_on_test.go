//go:build race

package validate_test

// slower is how many times longer the race detector may let a check take.
const slower = 20
