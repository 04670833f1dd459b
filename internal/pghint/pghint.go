// Package pghint says what to do about tables that cannot be read. It knows no driver: PostgreSQL's errors carry their
// SQLSTATE.
package pghint

import (
	"errors"
	"fmt"
)

// Tables completes the error of a first look at a package's tables.
func Tables(err error) error {
	var pg interface{ SQLState() string }
	if !errors.As(err, &pg) {
		return err
	}
	switch pg.SQLState() {
	case "42P01": // undefined_table
		return fmt.Errorf("%w: Migrate makes the tables, in the first schema of the search_path that the role may use", err)
	case "42501": // insufficient_privilege
		return fmt.Errorf("%w: the role is neither the tables' owner nor in toolcontract_worker, and has no grant of its own", err)
	}
	return err
}
