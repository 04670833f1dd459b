package export

import (
	"encoding/json/jsontext"
	"strings"
	"unicode"
	"unicode/utf8"
)

// say is how the description tells what the schema cannot: a keyword and its value in words.
func say(keyword string, value jsontext.Value) string {
	v := string(value)
	if value.Kind() == jsontext.KindString && keyword != "default" {
		v = string(unquote(value[1 : len(value)-1]))
	}
	switch keyword {
	case "minLength":
		return "at least " + counted(v, "character")
	case "maxLength":
		return "at most " + counted(v, "character")
	case "minItems":
		return "at least " + counted(v, "item")
	case "maxItems":
		return "at most " + counted(v, "item")
	case "minProperties":
		return "at least " + counted(v, "member")
	case "maxProperties":
		return "at most " + counted(v, "member")
	case "minimum":
		return "at least " + v
	case "maximum":
		return "at most " + v
	case "exclusiveMinimum":
		return "more than " + v
	case "exclusiveMaximum":
		return "less than " + v
	case "multipleOf":
		return "a multiple of " + v
	case "pattern":
		return "matches the regular expression " + v
	case "format":
		return "in the format " + v
	case "uniqueItems":
		return "no item twice"
	case "const":
		return "always " + v
	case "enum":
		return "one of " + v
	case "default":
		return "left out it is " + v
	case "examples":
		return "for example " + v
	case "title":
		return v
	}
	return "JSON Schema " + keyword + ": " + v
}

func counted(n, unit string) string {
	if n == "1" {
		return "1 " + unit
	}
	return n + " " + unit + "s"
}

// described joins the contract's own description with what was moved into it.
func described(own string, moved []string) string {
	if len(moved) == 0 {
		return own
	}
	text := strings.Join(moved, "; ") + "."
	first, size := utf8.DecodeRuneInString(text)
	text = string(unicode.ToUpper(first)) + text[size:]
	if own == "" {
		return text
	}
	if !strings.HasSuffix(own, ".") {
		own += "."
	}
	return own + " " + text
}
