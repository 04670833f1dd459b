package mcptool

import "github.com/toolcontract/toolcontract/tool"

// CheckFrame is checkFrame, for the fuzz test.
var CheckFrame = checkFrame

// BuildServer builds the SDK's server of the tools.
func BuildServer(tools []tool.Published) error {
	_, err := newServer(Config{Name: "x", Version: "1"}.withDefaults(), tools, nil)
	return err
}
