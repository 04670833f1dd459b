package envelope

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"strings"
)

// Schema returns the JSON Schema (2020-12) of the results of one tool: oneOf success or failure, both closed, with the
// wire name as a constant. data is the schema of Data; its local references stay local to it. codes are the codes that
// may appear, all of the library's where none is given. It returns nil where data is not one JSON object or boolean.
func Schema(tool string, data jsontext.Value, codes ...Code) jsontext.Value {
	data = data.Clone()
	if !isSchema(data) {
		return nil
	}
	if len(codes) == 0 {
		codes = Codes()
	}
	doc := strings.NewReplacer(
		"$TOOL", quote(tool), "$CODES", quote(codes), "$DATA", string(under(data, "#/$defs/data")),
	).Replace(schemaText)
	v := jsontext.Value(doc)
	if v.Compact() != nil {
		return nil
	}
	return v
}

const schemaText = `{
"$schema": "https://json-schema.org/draft/2020-12/schema",
"type": "object",
"oneOf": [{"$ref": "#/$defs/success"}, {"$ref": "#/$defs/failure"}],
"$defs": {
	"success": {
		"type": "object",
		"properties": {
			"ok": {"const": true},
			"tool": {"const": $TOOL},
			"request_id": {"$ref": "#/$defs/request_id"},
			"data": {"$ref": "#/$defs/data"},
			"replayed": {"const": true},
			"untrusted": {"type": "array", "items": {"$ref": "#/$defs/path"}, "minItems": 1, "maxItems": 1024}
		},
		"required": ["ok", "tool", "request_id", "data"],
		"additionalProperties": false
	},
	"failure": {
		"type": "object",
		"properties": {
			"ok": {"const": false},
			"tool": {"const": $TOOL},
			"request_id": {"$ref": "#/$defs/request_id"},
			"error": {"$ref": "#/$defs/error"},
			"untrusted": {"const": ["error.reason"]}
		},
		"required": ["ok", "tool", "request_id", "error"],
		"additionalProperties": false
	},
	"error": {
		"type": "object",
		"properties": {
			"code": {"enum": $CODES},
			"message": {"type": "string", "maxLength": 256},
			"retryable": {"type": "boolean"},
			"field": {"$ref": "#/$defs/path"},
			"rule": {"$ref": "#/$defs/rule"},
			"retry_after_ms": {"type": "integer", "minimum": 0},
			"effect": {"enum": ["none", "done", "unknown"]},
			"operation_id": {"type": "string", "pattern": "^op_[0-9a-hjkmnp-tv-z]{4,64}$"},
			"proposal_id": {"type": "string", "pattern": "^p_[A-Za-z0-9]{4,64}$"},
			"reason": {"type": "string", "maxLength": 1024},
			"violations": {
				"type": "array",
				"items": {
					"type": "object",
					"properties": {"field": {"$ref": "#/$defs/path"}, "rule": {"$ref": "#/$defs/rule"}},
					"additionalProperties": false
				},
				"minItems": 1, "maxItems": 8
			}
		},
		"required": ["code", "message", "retryable"],
		"additionalProperties": false
	},
	"request_id": {"type": "string", "pattern": "^req_[0-9a-hjkmnp-tv-z]{1,64}$"},
	"path": {"type": "string", "maxLength": 4096},
	"rule": {"type": "string", "maxLength": 64},
	"data": $DATA
}
}`

func isSchema(v jsontext.Value) bool {
	return v.IsValid() && (v.Kind() == '{' || v.Kind() == 't' || v.Kind() == 'f')
}

func quote(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "null"
	}
	return string(b)
}

// under moves the local references of a schema below the given pointer. Values that are data, not schemas, stay as they are.
func under(schema jsontext.Value, pointer string) jsontext.Value {
	var out bytes.Buffer
	m := mover{dec: jsontext.NewDecoder(bytes.NewReader(schema)), enc: jsontext.NewEncoder(&out), pointer: pointer}
	if m.schema() != nil {
		return nil
	}
	return bytes.TrimSpace(out.Bytes())
}

type mover struct {
	dec     *jsontext.Decoder
	enc     *jsontext.Encoder
	pointer string
}

// schema copies one schema, a boolean, or an array of schemas.
func (m mover) schema() error {
	switch m.dec.PeekKind() {
	case '[':
		return m.each(m.schema)
	case '{':
		return m.each(m.keyword)
	}
	return m.copy()
}

// keyword copies one member of a schema object.
func (m mover) keyword() error {
	name, err := m.name()
	if err != nil {
		return err
	}
	switch name {
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
		return m.each(m.member)
	case "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "items", "prefixItems", "contains", "propertyNames",
		"additionalProperties", "unevaluatedProperties", "unevaluatedItems":
		return m.schema()
	case "$ref", "$dynamicRef":
		t, err := m.dec.ReadToken()
		if err != nil {
			return err
		}
		return m.enc.WriteToken(jsontext.String(moved(t.String(), m.pointer)))
	}
	return m.copy()
}

func (m mover) member() error {
	if _, err := m.name(); err != nil {
		return err
	}
	return m.schema()
}

// each copies an array or object, its elements or members by f.
func (m mover) each(f func() error) error {
	if k := m.dec.PeekKind(); k != '[' && k != '{' {
		return m.copy()
	}
	if err := m.token(); err != nil {
		return err
	}
	for k := m.dec.PeekKind(); k != ']' && k != '}'; k = m.dec.PeekKind() {
		if err := f(); err != nil {
			return err
		}
	}
	return m.token()
}

func (m mover) name() (string, error) {
	t, err := m.dec.ReadToken()
	if err != nil {
		return "", err
	}
	name := t.String()
	return name, m.enc.WriteToken(jsontext.String(name))
}

func (m mover) token() error {
	t, err := m.dec.ReadToken()
	if err != nil {
		return err
	}
	return m.enc.WriteToken(t)
}

func (m mover) copy() error {
	v, err := m.dec.ReadValue()
	if err != nil {
		return err
	}
	return m.enc.WriteValue(v)
}

func moved(ref, pointer string) string {
	if rest, ok := strings.CutPrefix(ref, "#"); ok && (rest == "" || rest[0] == '/') {
		return pointer + rest
	}
	return ref
}
