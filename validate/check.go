package validate

// check is a node made ready for the scan: one part for each kind of value, nil or false where the kind is refused.
type check struct {
	text          *textCheck
	number        *numberCheck
	object        *objectCheck // declared members
	union         *unionCheck  // or a choice by discriminator
	members       *mapCheck    // or members of any name
	array         *arrayCheck
	yes, no, null bool
}

type textCheck struct {
	min, max int       // code points
	values   []literal // of enum and const; nil: any
	pattern  *pattern
	format   formatID
	goTime   bool
	mode     textMode
}

// textMode is how a text is read.
type textMode uint8

const (
	anyText     textMode = iota // only the length is bounded
	listedText                  // one of a list
	segmentText                 // by byte loops, on the document
	matchedText                 // by pattern or format
)

// goNumber is what the Go type behind a number takes.
type goNumber uint8

const (
	anyNumber goNumber = iota // no Go type
	floatNumber
	signedNumber
	unsignedNumber
)

type numberCheck struct {
	low, high                      int64 // of whole numbers within 18 digits
	simple                         bool  // low and high say all for those
	integer                        bool
	holds                          goNumber
	minPoint, maxPoint             int // of floatNumber: where the point of decimals may stand
	minimum, maximum, above, below *decimal
	multiple                       *multiple
	values                         []decimal
}

// multiple is multipleOf as mantissa × 10^exponent.
type multiple struct {
	mantissa int64
	exponent int
}

type arrayCheck struct {
	min, max int
	unique   bool
	prefix   []*check
	items    *check
}

type mapCheck struct {
	min, max int
	names    *textCheck               // nil: any
	declared map[string]declaredCheck // beside patterns; a closed object of declared members alone is an objectCheck
	patterns []patternCheck           // where one matches, it says what the value is; where two do, the slower pass
	values   *check                   // of the others
	required int                      // how many of the declared must be there
}

type declaredCheck struct {
	values   *check
	required bool
}

type patternCheck struct {
	pattern *pattern
	values  *check
}

// maxProperties is how many declared members the bit set of seen members holds.
const maxProperties = 256

// maxName is room for the longest declared name, in bytes, and a code point more.
const maxName = 72

type objectCheck struct {
	members  []namedCheck
	required [maxProperties / 64]uint64
	needs    []need
	min, max int
	simple   bool     // only required, among the first 64 members, speaks of the whole
	table    []uint16 // perfect hash of the names: index + 1
	seed     uint64
	shift    uint8
}

type namedCheck struct {
	name  literal
	check *check
}

// need is one dependentRequired.
type need struct {
	trigger int
	needs   [maxProperties / 64]uint64
}

type unionCheck struct {
	discriminator literal
	kinds         []literal
	branches      []*objectCheck
	skipped       *check // of a member before the discriminator, at first
}

// complete reports whether the members that were seen are enough: end, or no.
func (c *objectCheck) complete(seen *[maxProperties / 64]uint64, count, end int) int {
	for i, r := range c.required {
		if seen[i]&r != r {
			return no
		}
	}
	if count < c.min || count > c.max {
		return no
	}
	for i := range c.needs {
		n := &c.needs[i]
		if seen[n.trigger>>6]&(1<<(n.trigger&63)) == 0 {
			continue
		}
		for k, r := range n.needs {
			if seen[k]&r != r {
				return no
			}
		}
	}
	return end
}
