package validate

// Bounds of what the general path does for one document, of which it may otherwise ask each of a schema's thousand
// combined parts about each value.
const (
	// maxWork is how many schemas this package's own reading applies to values; workPerByte more for each byte of the document.
	maxWork     = 50_000
	workPerByte = 2
	// maxAsked is how many the general validator applies, which takes microseconds for each, before it is not asked.
	maxAsked = 500
	// workBytes is how many bytes of a text count as one application more.
	workBytes = 64
)

// spend counts work of a judge that has a budget.
func (j *judge) spend(n int) {
	if j.left != nil {
		*j.left -= n
	}
}

// spent reports whether the budget is exceeded. What is noted after it means nothing.
func (j *judge) spent() bool { return j.left != nil && *j.left < 0 }

// asks counts the schemas that a validator which remembers nothing applies to a document, up to most + 1.
type asks struct {
	most int
	memo map[pair]int
}

// few reports whether they are no more than most.
func (a *asks) few(root *node, v *value) bool { return a.count(root, v) <= a.most }

func (a *asks) count(n *node, v *value) int {
	if known, ok := a.memo[pair{n, v}]; ok {
		return known
	}
	total := 1 + len(v.raw)/workBytes
	add := func(sub *node, v *value) {
		if sub != nil && total <= a.most {
			total = min(total+a.count(sub, v), a.most+1)
		}
	}
	for _, sub := range n.sameValue() {
		add(sub, v)
	}
	for i := range v.elems {
		elem := &v.elems[i]
		switch {
		case v.kind == objectKind:
			for _, sub := range n.memberSchemas(v.names[i]) {
				add(sub, elem)
			}
			add(n.unevaluatedProperties, elem)
			add(n.propertyNames, &value{kind: stringKind})
		case i < len(n.prefix):
			add(n.prefix[i], elem)
		default:
			add(n.items, elem)
		}
		if v.kind == arrayKind {
			add(n.contains, elem)
			add(n.unevaluatedItems, elem)
		}
	}
	a.memo[pair{n, v}] = total
	return total
}

// once returns the schemas of which no equal one, as written, stands before them.
func once(list []*node, written []value) (out []*node) {
	seen := map[string]bool{}
	for i, n := range list {
		if raw := string(written[i].raw); !seen[raw] {
			seen[raw] = true
			out = append(out, n)
		}
	}
	return out
}
