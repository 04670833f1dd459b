package envelope

import "strconv"

// Member returns the path of the member name inside the object at parent: "destination.country".
// The root is the empty path.
func Member(parent, name string) string {
	if parent == "" {
		return name
	}
	return parent + "." + name
}

// Index returns the path of the element i of the array at parent: "lines[3]".
func Index(parent string, i int) string { return parent + "[" + strconv.Itoa(i) + "]" }

// Showable reports whether an undeclared member name may stand in the answer to its sender:
// ^[A-Za-z_][A-Za-z0-9_-]{0,63}$. Any other name is replaced by the path of its object.
func Showable(name string) bool {
	if name == "" || len(name) > 64 {
		return false
	}
	for i := 0; i < len(name); i++ {
		b := name[i]
		switch {
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b == '_':
		case i > 0 && (b >= '0' && b <= '9' || b == '-'):
		default:
			return false
		}
	}
	return true
}
