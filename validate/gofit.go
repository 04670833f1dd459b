package validate

import (
	"bytes"
	"errors"
	"reflect"
	"strconv"
)

// fits reports whether a Go number of the kind can hold the number as it is written: encoding/json reads 20.0 and 1e1
// into no integer, and rounds only what stays finite. The kind is zero where no Go type stands behind the schema.
func fits(k reflect.Kind, raw []byte) bool {
	switch k {
	case reflect.Invalid:
		return true
	case reflect.Float32:
		return finite(raw, 32)
	case reflect.Float64:
		return finite(raw, 64)
	default:
		return !bytes.ContainsAny(raw, ".eE") && (raw[0] != '-' || !unsigned(k) || len(raw) > 2 || raw[1] != '0')
	}
}

func unsigned(k reflect.Kind) bool { return k >= reflect.Uint && k <= reflect.Uintptr }

func finite(raw []byte, bits int) bool {
	_, err := strconv.ParseFloat(string(raw), bits)
	return err == nil || !errors.Is(err, strconv.ErrRange)
}
