//go:build !race

package validate_test

const slower = 1
