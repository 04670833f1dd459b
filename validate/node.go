package validate

import (
	"reflect"

	"github.com/toolcontract/toolcontract/redact"
)

// types is a set of JSON Schema types.
type types uint8

const (
	nullType types = 1 << iota
	booleanType
	integerType
	numberType
	stringType
	arrayType
	objectType
)

var typeNames = [...]struct { //nolint:gochecknoglobals // a constant table
	name string
	bit  types
}{
	{"null", nullType},
	{"boolean", booleanType},
	{"integer", integerType},
	{"number", numberType},
	{"string", stringType},
	{"array", arrayType},
	{"object", objectType},
}

func (t types) has(bit types) bool { return t&bit != 0 }

// unset stands for a bound that a schema does not have.
const unset = -1

// node is a schema in memory: the keywords of JSON Schema 2020-12 that this package knows. The check, the explanation
// of refusals, the comparison of versions and the listing of fields all read it. A node is not changed once its Schema
// is made.
type node struct {
	where string // the path of what it describes, for authors: "lines[].sku", "$defs.Address.city"

	verdict *bool // of the schemas true and false
	ref     *node
	refName string // what $ref says

	types    types // zero: any
	constant *value
	enum     []*value

	enumNumbers []decimal // the numbers of enum

	minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf *bound

	minLength, maxLength int
	pattern              *pattern
	format               formatID

	prefix                   []*node
	items                    *node
	minItems, maxItems       int
	uniqueItems              bool
	contains                 *node
	minContains, maxContains int
	unevaluatedItems         *node

	properties                   []property
	index                        map[string]int // into properties
	patterns                     []patternProperty
	additional                   *node
	propertyNames                *node
	required                     []string
	minProperties, maxProperties int
	dependentRequired            []dependency
	dependentSchemas             []property
	unevaluatedProperties        *node

	allOf, anyOf, oneOf             []*node
	allOfOnce                       []*node // allOf without what is written twice: a chain of pairs is no tree
	not, condition, then, otherwise *node

	union map[string]*node // the branches of a closed discriminated oneOf by their kind; nil where it is none

	samples     []sample // default and examples
	description string
	keywords    []string // as written, in order
	source      *value   // the object it was read from

	// What the Go type adds to what the document says; zero for a schema that was compiled from a document.
	goKind reflect.Kind
	goTime bool
	class  redact.Class
	lint   string // the reason given in the lint tag
}

// sample is a value that the schema gives as a default or an example.
type sample struct {
	keyword string
	value   *value
}

type property struct {
	name string
	node *node
}

type patternProperty struct {
	pattern *pattern
	node    *node
}

type dependency struct {
	name  string
	needs []string
}

// bound is a number in a schema, as written and as compared.
type bound struct {
	raw []byte
	decimal
}

func (n *node) property(name string) *node {
	if i, ok := n.index[name]; ok {
		return n.properties[i].node
	}
	return nil
}

// follow returns the node that n is about: through $ref where nothing stands beside it.
func (n *node) follow() *node {
	for n.ref != nil && n.types == 0 && n.constant == nil && n.enum == nil && len(n.properties) == 0 {
		n = n.ref
	}
	return n
}

// members reports whether keywords of the schema itself speak of an object's members.
func (n *node) members() bool {
	return len(n.properties) > 0 || len(n.required) > 0 || n.additional != nil || n.unevaluatedProperties != nil || n.propertyNames != nil ||
		len(n.patterns) > 0 || n.minProperties >= 0 || n.maxProperties >= 0 || n.dependentRequired != nil
}
