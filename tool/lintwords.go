package tool

import (
	"slices"
	"strings"
	"unicode"
)

// words are those of a field's name, in lower case and in their order: payload_json, payloadJSON and payload2-json are
// payload and json.
type words []string

func wordsOf(path string) words {
	var out words
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			out = append(out, strings.ToLower(word.String()))
			word.Reset()
		}
	}
	name := []rune(lastName(path))
	for i, r := range name {
		if !unicode.IsLetter(r) {
			end()
			continue
		}
		// A capital begins a word after a small letter (rawBody), and as the last of a row of them before one (HTTPMethod).
		if unicode.IsUpper(r) && i > 0 && (unicode.IsLower(name[i-1]) || i+1 < len(name) && unicode.IsLower(name[i+1]) && unicode.IsUpper(name[i-1])) {
			end()
		}
		word.WriteRune(r)
	}
	end()
	return out
}

// last is the last word in the singular, "" where there is none; it says what a thing is, the others say whose or which.
func (w words) last() string {
	if len(w) == 0 {
		return ""
	}
	return singular(w[len(w)-1])
}

func (w words) first() string {
	if len(w) == 0 {
		return ""
	}
	return singular(w[0])
}

func (w words) plural() bool { return len(w) > 0 && singular(w[len(w)-1]) != w[len(w)-1] }

func singular(s string) string {
	if stem, ok := strings.CutSuffix(s, "ies"); ok && len(stem) > 2 {
		return stem + "y"
	}
	if len(s) > 3 && strings.HasSuffix(s, "s") && !strings.HasSuffix(s, "ss") && !strings.HasSuffix(s, "us") {
		return s[:len(s)-1]
	}
	return s
}

func (w words) any(list []string) bool {
	return slices.ContainsFunc(w, func(s string) bool { return slices.Contains(list, singular(s)) })
}

// about reports whether all but the last word, if there are any, are of the list: http_method, and method.
func (w words) about(list []string) bool {
	return len(w) == 1 || w[:len(w)-1].any(list)
}

// document: the name of a text that holds a document of its own.
func (w words) document() bool {
	last := w.last()
	switch {
	case slices.Contains(measures, last):
		return false
	case w.any(carriers):
		return true
	case last == "body", last == "data" && len(w) > 1, last == "content" && len(w) > 1:
		return w.any(senders) || last == "body" && len(w) == 1
	case last == "parameter", last == "param", last == "argument", last == "arg", last == "request", last == "raw":
		return len(w) == 1 || w.plural() || w.any(senders)
	}
	return w.first() == "raw"
}

// method: the name of what is to be done; method_name too, payment_method not.
func (w words) method() bool {
	if len(w) > 1 && w.last() == "name" {
		w = w[:len(w)-1]
	}
	return slices.Contains(methods, w.last()) && w.about(protocols)
}

// call: what to call, said without more.
func (w words) call() bool {
	switch w.last() {
	case "verb":
		return w.about(protocols)
	case "endpoint":
		return w.about(protocols)
	case "method", "path", "route":
		return len(w) > 1 && w.about(protocols)
	}
	return false
}

// thing: what a method could be for; resource_type and object_name too.
func (w words) thing() bool {
	if len(w) > 1 && slices.Contains(namers, w.last()) {
		w = w[:len(w)-1]
	}
	return slices.Contains(things, w.last())
}

// program: the name of a text in a language. A search's words are none.
func (w words) program() bool {
	return slices.Contains(languages, w.last()) && !w.any(searches)
}

// catchAll: the name of a text for anything. One note is a note; notes are whatever comes.
func (w words) catchAll() bool {
	last := w.last()
	switch {
	case slices.Contains(anything, last):
		return true
	case slices.Contains(collections, last):
		return w.plural() || len(w) == 1 && last != "note" || slices.Contains(further, w.first())
	case slices.Contains(further, last):
		return len(w) == 1
	}
	return len(w) > 1 && slices.Contains(further, w.first()) && slices.Contains(namelike, last)
}

// record: the name of another system's record.
func (w words) record() bool {
	last := w.last()
	switch last {
	case "raw", "original", "upstream", "dump", "response", "snapshot":
		return true
	case "record", "payload", "object", "data":
		return len(w) == 1 && last == "record" || w.any(origins)
	}
	return w.first() == "raw"
}

// kept: the name of a member that only the keeper of a record needs.
func (w words) kept() bool { return slices.Contains(keepsakes, strings.Join(w, "_")) }

// The words by which wide fields give themselves away.
var (
	//nolint:gochecknoglobals // constant tables, all of them
	carriers = []string{"payload", "json", "xml", "yaml", "blob", "serialized", "serialised", "graphql", "soql", "ndjson", "multipart"}
	//nolint:gochecknoglobals // as above
	measures = []string{
		"size", "length", "len", "byte", "count", "type", "id", "hash", "digest", "checksum", "sha", "version", "url", "uri",
		"name", "path", "at", "key", "ref", "reference", "format", "encoding", "status", "mime", "signature", "limit", "error", "code", "schema", "etag",
	}
	//nolint:gochecknoglobals // as above
	senders = []string{
		"request", "response", "raw", "http", "webhook", "event", "post", "patch", "put", "encoded", "api", "base", "binary",
		"query", "call", "rpc", "input", "tool",
	}
	//nolint:gochecknoglobals // as above
	methods = []string{"action", "method", "operation", "command", "verb", "function", "op", "procedure", "rpc"}
	//nolint:gochecknoglobals // as above
	protocols = []string{"http", "api", "rpc", "request", "rest", "sql", "crud", "tool", "resource", "graphql"}
	//nolint:gochecknoglobals // as above
	things = []string{
		"resource", "path", "url", "uri", "endpoint", "object", "entity", "target", "collection", "payload", "table", "param",
		"parameter", "argument", "body", "sobject", "model",
	}
	//nolint:gochecknoglobals // as above
	namers = []string{"name", "type", "path", "kind"}
	//nolint:gochecknoglobals // as above
	languages = []string{"query", "sql", "soql", "jql", "expression", "script", "command", "jmespath", "jsonpath", "xpath", "lambda", "clause"}
	//nolint:gochecknoglobals // as above
	searches = []string{"search", "user", "text", "keyword", "cron", "natural"}
	//nolint:gochecknoglobals // as above
	anything = []string{"metadata", "meta", "info", "misc", "miscellaneou", "extra", "addendum", "freetext", "annotation"}
	//nolint:gochecknoglobals // as above
	collections = []string{"detail", "note", "attribute", "option", "property", "context", "remark", "data"}
	//nolint:gochecknoglobals // as above
	further = []string{"extra", "additional", "misc", "other", "custom", "further", "free"}
	//nolint:gochecknoglobals // as above
	namelike = []string{"field", "value", "setting", "param", "parameter", "argument", "text", "information", "content", "input", "comment", "instruction"}
	//nolint:gochecknoglobals // as above
	origins = []string{"raw", "source", "upstream", "provider", "original", "full", "api", "vendor"}
	//nolint:gochecknoglobals // as above
	keepsakes = []string{
		"created_at", "updated_at", "modified_at", "deleted_at", "archived_at", "created_by", "updated_by", "modified_by",
		"last_modified_at", "last_modified_by", "last_modified_date", "created_date", "system_modstamp", "is_deleted", "is_archived", "etag",
		"links", "metadata", "raw", "self", "self_link", "href", "livemode", "api_version", "resource_version", "generation",
		"managed_fields", "node_id", "revision", "row_version", "sync_token", "creation_timestamp", "deletion_timestamp", "owner_references",
	}
)
