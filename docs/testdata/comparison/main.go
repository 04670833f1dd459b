// Command comparison sends the documents of docs/comparison.md through a typed tool of three Go libraries, in each one's
// ordinary way, and prints what the handler got or what was answered:
//
//	go run . mcp | eino | genkit
//
// A module of its own: nothing of it reaches the users of toolcontract. The release of sonic that this eino names does not
// compile with Go 1.27; go.mod has a later one.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type input struct {
	ID   int64   `json:"id"`
	Name string  `json:"name"`
	Note *string `json:"note,omitempty"`
}

type output struct {
	Got string `json:"got"`
}

func got(in input) (output, error) {
	if in.Name == "fail" {
		return output{}, errors.New("dial 10.0.0.1: the driver's words")
	}
	return output{fmt.Sprintf("id=%d name=%q", in.ID, in.Name)}, nil
}

func documents() []string {
	return []string{
		`{"id":1,"name":"a"}`,
		`{"id":1,"id":2,"name":"a"}`,
		`{"id":1,"name":"a","extra":true}`,
		`{"id":1,"Name":"a"}`,
		`{"id":1,"name":"a","NAME":"b"}`,
		`{"id":"12","name":"a"}`,
		`{"id":1,"name":null}`,
		`{"id":1}`,
		`{"id":9007199254740993,"name":"a"}`,
		`{"id":9223372036854775807,"name":"a"}`,
		`{"id":1.0,"name":"a"}`,
		"{\"id\":1,\"name\":\"\xff\"}",
		`{"id":1,"name":"\ud800"}`,
		`{"id":1,"name":"a"} {"id":2}`,
		`{"id":1,"name":"fail"}`,
	}
}

type call func(document string) (string, error)

func main() {
	ctx := context.Background()
	libraries := map[string]func(context.Context) (call, error){"mcp": mcpTool, "eino": einoTool, "genkit": genkitTool}
	if len(os.Args) != 2 || libraries[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "comparison mcp | eino | genkit")
		os.Exit(2)
	}
	send, err := libraries[os.Args[1]](ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for _, d := range documents() {
		answer, err := send(d)
		fmt.Printf("%q\n\t%s %v\n", d, answer, err)
	}
}

func mcpTool(ctx context.Context) (call, error) {
	s := mcp.NewServer(&mcp.Implementation{Name: "comparison", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "t", Description: "d"}, func(_ context.Context, _ *mcp.CallToolRequest, in input) (*mcp.CallToolResult, output, error) {
		out, err := got(in)
		return nil, out, err
	})
	there, here := mcp.NewInMemoryTransports()
	if _, err := s.Connect(ctx, here, nil); err != nil {
		return nil, err
	}
	c, err := mcp.NewClient(&mcp.Implementation{Name: "comparison", Version: "1"}, nil).Connect(ctx, there, nil)
	return func(d string) (string, error) {
		r, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "t", Arguments: json.RawMessage(d)})
		if err != nil {
			return "", err
		}
		text, err := json.Marshal(r.Content)
		return string(text), err
	}, err
}

func einoTool(ctx context.Context) (call, error) {
	t, err := utils.InferTool("t", "d", func(_ context.Context, in input) (output, error) { return got(in) })
	return func(d string) (string, error) { return t.InvokableRun(ctx, d) }, err
}

func genkitTool(ctx context.Context) (call, error) {
	t := genkit.DefineTool(genkit.Init(ctx), "t", "d", func(_ *ai.ToolContext, in input) (output, error) { return got(in) })
	return func(d string) (string, error) {
		var v any // what generate hands over, decoded as the model plug-ins do
		if err := json.Unmarshal([]byte(d), &v); err != nil {
			return "", err
		}
		out, err := t.RunRaw(ctx, v)
		return fmt.Sprint(out), err
	}, nil
}
