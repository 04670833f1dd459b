package mcptool

import (
	"encoding/json/jsontext"

	"github.com/toolcontract/toolcontract/tool"
)

// CheckFrame is checkFrame where the protocol has batches, for the fuzz test.
func CheckFrame(doc []byte) (jsontext.Value, error) {
	_, id, err := checkFrame(doc, true)
	return id, err
}

// BuildServer builds the SDK's server of the tools.
func BuildServer(tools []tool.Published) error {
	_, err := newServer(Config{Name: "x", Version: "1"}.withDefaults(), tools, nil)
	return err
}
