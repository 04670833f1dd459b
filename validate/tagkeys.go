package validate

import (
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// tagKeys refuses a struct tag that is malformed, keys of ours that stand twice, and keys that are one of ours misspelt: all would be passed over in
// silence, and a rule that the author believes in would be nobody's.
func (d *deriver) tagKeys(tag reflect.StructTag, path string) {
	keys, ok := keysOf(string(tag))
	if !ok {
		d.fail(path, "the struct tag is malformed: key:\"value\" pairs, with one space between two")
	}
	for i, key := range keys {
		if slices.Contains(keys[:i], key) && (key == "json" || key == "redact" || key == "lint" || strings.HasPrefix(key, "jsonschema")) {
			d.fail(path, "the tag key %q stands twice, and the first alone is read", key)
		}
		for _, ours := range [...]string{"json", "jsonschema", "redact", "lint"} {
			if key != ours && (strings.EqualFold(key, ours) || !knownKey(key) && distance(key, ours) <= 1+len(ours)/8) {
				d.fail(path, "the tag key %q is %q misspelt", key, ours)
				break
			}
		}
	}
}

// knownKey reports whether a key that looks like one of ours is another package's.
func knownKey(key string) bool { return key == "bson" || key == "jsonapi" }

// keysOf returns the keys of a struct tag in the conventional form (reflect.StructTag); false where it is another.
func keysOf(tag string) (keys []string, ok bool) {
	for tag = strings.TrimLeft(tag, " "); tag != ""; tag = strings.TrimLeft(tag, " ") {
		key, rest, found := strings.Cut(tag, ":")
		if !found || key == "" || strings.ContainsAny(key, " \"\t") {
			return keys, false
		}
		value, err := strconv.QuotedPrefix(rest)
		if err != nil || value[0] != '"' {
			return keys, false
		}
		keys, tag = append(keys, key), rest[len(value):]
		if tag != "" && tag[0] != ' ' {
			return keys, false
		}
	}
	return keys, true
}

// distance is the number of letters to change, add or leave out between two words.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// bounds refuses what no value can satisfy: a least above its most.
func (t tags) bounds() error {
	for _, pair := range [...][2]string{
		{"minLength", "maxLength"}, {"minItems", "maxItems"}, {"minProperties", "maxProperties"}, {"minimum", "maximum"},
	} {
		least, ok := t.exact(pair[0])
		most, ok2 := t.exact(pair[1])
		if ok && ok2 && least.Cmp(most) > 0 {
			return fmt.Errorf("%s is above %s: nothing can satisfy both", pair[0], pair[1])
		}
	}
	return nil
}

func (t tags) exact(name string) (*big.Rat, bool) {
	for _, w := range t.words {
		if w.name == name {
			return new(big.Rat).SetString(w.value)
		}
	}
	return nil, false
}
