package export_test

import (
	"context"
	"encoding/json/jsontext"
	"fmt"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/export"
)

type search struct {
	Text  string `json:"text" jsonschema:"minLength=1,maxLength=80"`
	Limit int    `json:"limit,omitzero" jsonschema:"minimum=1,maximum=50"`
}

type found struct {
	Count int `json:"count" jsonschema:"minimum=0"`
}

// A role's tools as OpenAI is shown them, a message of its model, and the answer to it. The model says null for the member
// that it leaves out, as OpenAI's strict mode makes it; the boundary checks what the contract says.
func Example() {
	ctx := context.Background()
	catalog, err := tool.NewCatalog(tool.Tool[search, found]{
		Spec: tool.Spec{Name: "search", Version: 1, Description: "Count the articles with a text.", Timeout: time.Second},
		Handle: func(_ context.Context, _ tool.Caller, in search) (found, error) {
			return found{len(in.Text) + in.Limit}, nil
		},
	})
	check(err)
	role, err := catalog.Role("reader", "search_v1")
	check(err)
	d, err := tool.NewDispatcher(catalog, tool.Config{})
	check(err)
	run, err := d.Start(tool.RunConfig{
		Principal: approval.Principal{Kind: approval.Service, Tenant: "acme", Subject: "agent"},
		Role:      role, Budget: tool.Budget{Calls: 10}, Deadline: time.Now().Add(time.Minute),
	})
	check(err)

	openai, err := export.OpenAI(role.Published())
	check(err)
	fmt.Println(string(openai.Tools()))
	for _, l := range openai.Losses() {
		fmt.Printf("%s %s: %s\n", l.Path, l.Keyword, l.Text)
	}

	message := jsontext.Value(`{"role":"assistant","tool_calls":[
		{"id":"call_1","type":"function","function":{"name":"search_v1","arguments":"{\"text\":\"kettle\",\"limit\":null}"}},
		{"id":"call_2","type":"function","function":{"name":"search_v1","arguments":"{\"text\":\"\",\"limit\":null}"}}]}`)
	calls, err := openai.Calls(message)
	check(err)
	results := make([]envelope.Result, len(calls))
	for i, c := range calls {
		results[i] = run.Call(ctx, c)
		fmt.Println(string(c.Arguments), results[i].OK, results[i].Err())
	}
	messages, err := openai.Answers(calls, results)
	check(err)
	fmt.Println(len(messages), "messages follow")

	// Output:
	// [{"type":"function","function":{"name":"search_v1","description":"Count the articles with a text.","parameters":{"type":"object","properties":{"text":{"description":"At least 1 character; at most 80 characters.","type":"string"},"limit":{"description":"Null leaves it out.","type":["integer","null"],"minimum":1,"maximum":50}},"required":["text","limit"],"additionalProperties":false},"strict":true}}]
	// text minLength: at least 1 character
	// text maxLength: at most 80 characters
	// limit required: null leaves it out
	// {"text":"kettle"} true <nil>
	// {"text":""} false INVALID_ARGUMENT at text
	// 2 messages follow
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
