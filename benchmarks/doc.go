// Package benchmarks compares a fully guarded call with what a user writes without a boundary, and with other
// libraries, on the same documents in one run. It is a module of its own, so that no library it compares with reaches
// the users of toolcontract.
//
//	GOTOOLCHAIN=auto go run ./cmd/ratios          the figures with their goals, under a minute
//	GOTOOLCHAIN=auto go run ./cmd/ratios -long    the table of README.md
//	GOTOOLCHAIN=auto go test -bench . ./...       the same through testing.B
package benchmarks
