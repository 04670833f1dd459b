package validate

import (
	"regexp/syntax"
	"unicode/utf8"
)

// segments match a pattern of the common kind, ^class{m,n}class{m,n}…$ over plain ASCII, in byte loops on the document
// itself: where every class ends before the next begins, nothing has to be tried twice.
type segments []segment

type segment struct {
	class    *[256]bool
	min, max int
}

// newSegments returns nil for any other kind of pattern.
func newSegments(tree *syntax.Regexp) segments {
	if tree.Op != syntax.OpConcat || len(tree.Sub) < 3 || tree.Sub[0].Op != syntax.OpBeginText || tree.Sub[len(tree.Sub)-1].Op != syntax.OpEndText {
		return nil
	}
	var out segments
	for _, sub := range tree.Sub[1 : len(tree.Sub)-1] {
		var ok bool
		if out, ok = out.add(sub); !ok {
			return nil
		}
	}
	for i := range out[:len(out)-1] {
		if s := out[i]; s.min != s.max && (out[i+1].min == 0 || s.overlaps(out[i+1])) {
			return nil
		}
	}
	return out
}

func (list segments) add(sub *syntax.Regexp) (segments, bool) {
	low, high := 1, 1
	switch sub.Op { //nolint:exhaustive // the others are no segments
	case syntax.OpStar:
		low, high, sub = 0, unset, sub.Sub[0]
	case syntax.OpPlus:
		low, high, sub = 1, unset, sub.Sub[0]
	case syntax.OpQuest:
		low, high, sub = 0, 1, sub.Sub[0]
	case syntax.OpRepeat:
		low, high, sub = sub.Min, sub.Max, sub.Sub[0]
	case syntax.OpLiteral:
		if sub.Flags&syntax.FoldCase != 0 {
			return nil, false
		}
		for _, r := range sub.Rune {
			class, ok := plainClass([]rune{r, r})
			if !ok {
				return nil, false
			}
			list = append(list, segment{class, 1, 1})
		}
		return list, true
	}
	ranges := sub.Rune
	if sub.Op == syntax.OpLiteral && len(sub.Rune) == 1 && sub.Flags&syntax.FoldCase == 0 {
		ranges = []rune{sub.Rune[0], sub.Rune[0]}
	} else if sub.Op != syntax.OpCharClass {
		return nil, false
	}
	class, ok := plainClass(ranges)
	if high < 0 {
		high = maxCount
	}
	return append(list, segment{class, low, high}), ok
}

// plainClass makes a table of ranges; false where they hold anything that is not plain in a JSON string.
func plainClass(ranges []rune) (*[256]bool, bool) {
	class := new([256]bool)
	for i := 0; i+1 < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if r >= utf8.RuneSelf || bytesOf[r]&plainByte == 0 {
				return nil, false
			}
			class[r] = true
		}
	}
	return class, len(ranges) > 0
}

func (s segment) overlaps(t segment) bool {
	for i := range s.class {
		if s.class[i] && t.class[i] {
			return true
		}
	}
	return false
}

// quoted returns where the match that begins at i ends, at its closing quote; no where there is none.
func (list segments) quoted(doc []byte, i int) int {
	for k := range list {
		s := &list[k]
		end := len(doc)
		if s.max < end-i {
			end = i + s.max
		}
		from := i
		for i < end && s.class[doc[i]] {
			i++
		}
		if i-from < s.min {
			return no
		}
	}
	if i < len(doc) && doc[i] == '"' {
		return i
	}
	return no
}
