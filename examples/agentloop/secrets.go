package main

import (
	"io"
	"regexp"
	"strings"

	"github.com/toolcontract/toolcontract/redact"
)

// secrets are what the program neither shows nor saves: the endpoint's key, which an endpoint may send back.
type secrets struct {
	key    string
	canary []redact.Canary
}

// newSecrets knows a key of six characters or more; a shorter one is no secret, and no text could be searched for it.
func newSecrets(key string) secrets {
	c, err := redact.NewCanary(key)
	if err != nil {
		return secrets{}
	}
	return secrets{key, []redact.Canary{c}}
}

const keyStoodHere = "[key]"

// without replaces the key. A text in which it stands in another form, or in part, is left out whole.
func (s secrets) without(text string) string {
	if s.key == "" {
		return text
	}
	text = strings.ReplaceAll(text, s.key, keyStoodHere)
	for _, c := range s.canary {
		if len(c.Search([]byte(text))) > 0 {
			return "[a line in which the key stood]"
		}
	}
	return text
}

var (
	cards     = regexp.MustCompile(`[0-9](?:[ -]?[0-9]){11,18}`)
	addresses = regexp.MustCompile(`[\p{L}\p{N}._%+-]+@[\p{L}\p{N}.-]+`)
)

// note is the host's own rule for what people and models write: numbers as long as a card's and e-mail addresses go.
// Everything else of a text stays as it is, names too.
func (s secrets) note(text string) string {
	return addresses.ReplaceAllString(cards.ReplaceAllString(s.without(text), "[number]"), "[address]")
}

// shown is where the program writes, line by line, without the key.
type shown struct {
	io.Writer
	secrets secrets
}

// Write implements io.Writer.
func (s shown) Write(p []byte) (int, error) {
	text := s.secrets.without(strings.TrimSuffix(string(p), "\n"))
	if strings.HasSuffix(string(p), "\n") {
		text += "\n"
	}
	if _, err := io.WriteString(s.Writer, text); err != nil {
		return 0, err
	}
	return len(p), nil
}
