package tool_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
)

type (
	basketLine struct {
		SKU string `json:"sku" jsonschema:"minLength=1,maxLength=8"`
	}
	basketIn struct {
		Lines  []basketLine   `json:"lines"`
		Labels map[string]int `json:"labels"`
	}
	basketOut struct {
		Lines  []basketLine   `json:"lines"`
		Totals map[string]int `json:"totals"`
	}
)

// The label of a field has as many values as the schema has places: elements share one, and keys of maps, which senders
// and handlers choose, are in none.
func TestFieldLabelsAreBounded(t *testing.T) { // its rows share the handler
	var fail error
	var out basketOut
	read := tool.Tool[basketIn, basketOut]{
		Spec:   tool.Spec{Name: "price_basket", Version: 1, Description: "Prices a basket.", Timeout: time.Second},
		Handle: func(context.Context, tool.Caller, basketIn) (basketOut, error) { return out, fail },
	}
	const good = `{"lines":[{"sku":"a"}],"labels":{}}`
	for _, tt := range []struct {
		name, args, why string
		fail            error
		out             basketOut
		counter, want   string
	}{
		{
			name: "an element of the arguments", args: `{"lines":[{"sku":"a"},{"sku":"b"},{"sku":"much too long"}],"labels":{}}`, why: "its index is the sender's",
			counter: "refusals", want: "refusals code=INVALID_ARGUMENT field=lines[].sku name=price_basket_v1: 1",
		},
		{
			name: "a key of the arguments", args: `{"lines":[],"labels":{"ada_lovelace":"x"}}`, why: "a key is a value",
			counter: "refusals", want: "refusals code=INVALID_ARGUMENT field=labels name=price_basket_v1: 1",
		},
		{
			name: "a member that is not declared", args: `{"lines":[{"sku":"a","ada_lovelace":1}],"labels":{}}`, why: "a name that the sender made up",
			counter: "refusals", want: "refusals code=UNKNOWN_FIELD field=lines[] name=price_basket_v1: 1",
		},
		{
			name: "an element that a handler names", args: good, fail: envelope.New(envelope.NotFound).At("lines[7].sku"), why: "as the schema's own",
			counter: "refusals", want: "refusals code=NOT_FOUND field=lines[].sku name=price_basket_v1: 1",
		},
		{
			name: "a key that a handler names", args: good, fail: envelope.New(envelope.NotFound).At("labels.ada_lovelace"), why: "a key is a value",
			counter: "refusals", want: "refusals code=NOT_FOUND field= name=price_basket_v1: 1",
		},
		{
			name: "a text in brackets", args: good, fail: envelope.New(envelope.NotFound).At("lines[ada].sku"), why: "an index is a number, and what is not declared is not named",
			counter: "refusals", want: "refusals code=NOT_FOUND field= name=price_basket_v1: 1",
		},
		{
			name: "an element of the answer", args: good, out: basketOut{Lines: []basketLine{{"a"}, {""}}}, why: "which element it was stands in the quarantine",
			counter: "output_failures", want: "output_failures field=lines[].sku name=price_basket_v1: 1",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			o := w.observe()
			c, err := tool.NewCatalog(read)
			require.NoError(t, err)
			role, err := c.Role("support", "price_basket_v1")
			require.NoError(t, err)
			d, err := tool.NewDispatcher(c, w.config)
			require.NoError(t, err)
			run, err := d.Start(tool.RunConfig{Principal: agent, Role: role, Budget: tool.Budget{Calls: 1}, Deadline: epoch.Add(time.Hour)})
			require.NoError(t, err)
			fail, out = tt.fail, tt.out
			if out.Lines == nil {
				out = basketOut{Lines: []basketLine{}, Totals: map[string]int{}}
			}
			require.False(t, run.Call(t.Context(), envelope.Call{Tool: "price_basket_v1", Arguments: []byte(tt.args)}).OK)
			require.Equal(t, []string{tt.want}, o.counted(t, tt.counter), tt.why)
		})
	}
}
