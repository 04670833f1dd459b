package benchmarks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	google "github.com/google/jsonschema-go/jsonschema"
	kaptinlin "github.com/kaptinlin/jsonschema"
	mcpgo "github.com/mark3labs/mcp-go/mcp"
	mcpgoserver "github.com/mark3labs/mcp-go/server"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	santhosh "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolcontract/toolcontract/validate"
)

var errRefused = errors.New("benchmarks: refused")

func schema() ([]byte, error) {
	s, err := validate.For[Order]()
	if err != nil {
		return nil, err
	}
	return s.JSON(), nil
}

// bothWays checks a document, decodes it, encodes it and checks that, as a guarded call must.
func bothWays(check func(doc []byte) error) func(doc []byte) error {
	return func(doc []byte) error {
		if err := check(doc); err != nil {
			return err
		}
		var o Order
		if err := json.Unmarshal(doc, &o); err != nil {
			return err
		}
		out, err := json.Marshal(&o)
		if err != nil {
			return err
		}
		return check(out)
	}
}

// Kaptinlin is github.com/kaptinlin/jsonschema both ways.
func Kaptinlin() (Subject, error) {
	doc, err := schema()
	if err != nil {
		return Subject{}, err
	}
	s, err := kaptinlin.NewCompiler().Compile(doc)
	if err != nil {
		return Subject{}, err
	}
	return Subject{"kaptinlin/jsonschema, both ways", bothWays(func(doc []byte) error {
		if !s.ValidateJSON(doc).IsValid() {
			return errRefused
		}
		return nil
	})}, nil
}

// Santhosh is github.com/santhosh-tekuri/jsonschema/v6 both ways.
func Santhosh() (Subject, error) {
	doc, err := schema()
	if err != nil {
		return Subject{}, err
	}
	parsed, err := santhosh.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		return Subject{}, err
	}
	c := santhosh.NewCompiler()
	if err := c.AddResource("schema.json", parsed); err != nil {
		return Subject{}, err
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		return Subject{}, err
	}
	return Subject{"santhosh-tekuri/jsonschema, both ways", bothWays(func(doc []byte) error {
		v, err := santhosh.UnmarshalJSON(bytes.NewReader(doc))
		if err != nil {
			return err
		}
		return s.Validate(v)
	})}, nil
}

// Google is github.com/google/jsonschema-go both ways.
func Google() (Subject, error) {
	doc, err := schema()
	if err != nil {
		return Subject{}, err
	}
	var s google.Schema
	if err := json.Unmarshal(doc, &s); err != nil {
		return Subject{}, err
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return Subject{}, err
	}
	return Subject{"google/jsonschema-go, both ways", bothWays(func(doc []byte) error {
		var v any
		if err := json.Unmarshal(doc, &v); err != nil {
			return err
		}
		return resolved.Validate(v)
	})}, nil
}

// SDK is the typed path of the MCP go-sdk in process: the handler that mcp.AddTool makes, behind the server's method
// handler, without a transport.
func SDK() (Subject, error) {
	doc, err := schema()
	if err != nil {
		return Subject{}, err
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "benchmarks", Version: "1"}, nil)
	var handle mcp.MethodHandler
	server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		handle = next
		return next
	})
	mcp.AddTool(server, &mcp.Tool{Name: "echo_order", InputSchema: json.RawMessage(doc), OutputSchema: json.RawMessage(doc)},
		func(_ context.Context, _ *mcp.CallToolRequest, in Order) (*mcp.CallToolResult, Order, error) {
			return nil, in, nil
		})
	ctx := context.Background()
	near, _ := mcp.NewInMemoryTransports()
	session, err := server.Connect(ctx, near, nil)
	if err != nil {
		return Subject{}, err
	}
	return Subject{"MCP go-sdk, typed tool", func(doc []byte) error {
		r, err := handle(ctx, "tools/call", &mcp.CallToolRequest{Session: session, Params: &mcp.CallToolParamsRaw{Name: "echo_order", Arguments: doc}})
		if err != nil {
			return err
		}
		if result, ok := r.(*mcp.CallToolResult); !ok || result.IsError {
			return errRefused
		}
		return nil
	}}, nil
}

// MCPGo is the typed path of github.com/mark3labs/mcp-go in process, with its validation of input and output switched
// on: the message of a call, handled by the server without a transport.
func MCPGo() (Subject, error) {
	doc, err := schema()
	if err != nil {
		return Subject{}, err
	}
	server := mcpgoserver.NewMCPServer("benchmarks", "1", mcpgoserver.WithToolCapabilities(false),
		mcpgoserver.WithInputSchemaValidation(), mcpgoserver.WithOutputSchemaValidation())
	t := mcpgo.NewToolWithRawSchema("echo_order", "", doc)
	t.RawOutputSchema = doc
	server.AddTool(t, mcpgo.NewStructuredToolHandler(func(_ context.Context, _ mcpgo.CallToolRequest, in Order) (Order, error) { return in, nil }))
	ctx := context.Background()
	return Subject{"mcp-go, typed tool", func(doc []byte) error {
		message := make([]byte, 0, len(doc)+128)
		message = append(message, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo_order","arguments":`...)
		message = append(append(message, doc...), `}}`...)
		response, ok := server.HandleMessage(ctx, message).(mcpgo.JSONRPCResponse)
		if !ok {
			return errRefused
		}
		if result, ok := response.Result.(*mcpgo.CallToolResult); ok && result.IsError {
			return errRefused
		}
		_, err := json.Marshal(response)
		return err
	}}, nil
}
