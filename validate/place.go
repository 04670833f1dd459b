package validate

import "github.com/toolcontract/toolcontract/envelope"

// place is where the reader stands, from the outermost step to the innermost. A step is a member name or an index.
type place []step

type step struct {
	name  string
	index int // of an element; -1: a member
}

func member(name string) step { return step{name: name, index: -1} }
func element(i int) step      { return step{index: i} }

// String spells the path for the sender of the document. It ends before the first name that may not be shown, since
// a name is text that the sender chose.
func (p place) String() string {
	path := ""
	for _, s := range p {
		switch {
		case s.index >= 0:
			path = envelope.Index(path, s.index)
		case envelope.Showable(s.name):
			path = envelope.Member(path, s.name)
		default:
			return path
		}
	}
	return path
}

// with returns p and one step more, without touching what shares p's array.
func (p place) with(s step) place { return append(p[:len(p):len(p)], s) }
