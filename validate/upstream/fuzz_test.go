package upstream_test

import (
	"encoding/json/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/validate"
	"github.com/toolcontract/toolcontract/validate/upstream"
)

// Whatever comes: what is accepted is strict JSON that decodes to the same value; what closed accepts, select accepts
// alike; a refusal names declared places alone.
func FuzzJudge(f *testing.F) {
	for _, doc := range []string{
		wholeParcel, goodReview, `{}`, `null`, `[]`, `{"zz":[{"a":1}]}`, with(`"kind":"air"`, `"kind":"sea"`), with(`"seq":2`, `"seq":2.0`),
		with(`"a":{`, `"b\u0061":{`), `{"ID":1}`, "\ufeff{}", `{"id":"p1"}{}`, with(`1.5`, `1e999`), with(`"note":null`, `"no\u0074e":"x"`),
	} {
		f.Add([]byte(doc))
	}
	schema, err := validate.For[parcel]()
	if err != nil {
		f.Fatal(err)
	}
	op := parcelOperation()
	closed, err := upstream.NewJudge(op)
	if err != nil {
		f.Fatal(err)
	}
	op.Select = true
	selecting, err := upstream.NewJudge(op)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		strict, refusal := closed(struct{}{}, doc)
		loose, looseRefusal := selecting(struct{}{}, doc)
		limits := validate.Limits{Bytes: 1 << 20, Depth: 64, Members: 1 << 20, Items: 1 << 20, StringBytes: 1 << 20}
		require.Equal(t, schema.Check(doc, limits) == nil, refusal == nil, "closed is the schema's own verdict, its order apart")
		if refusal == nil {
			require.Nil(t, looseRefusal)
			require.Equal(t, strict, loose)
			var plain parcel
			require.NoError(t, json.Unmarshal(doc, &plain, json.RejectUnknownMembers(true)))
			require.Equal(t, plain, strict)
		}
		if looseRefusal == nil {
			alone, err := json.Marshal(loose)
			require.NoError(t, err)
			again, refusal := closed(struct{}{}, alone)
			require.Nil(t, refusal, "what was selected stands alone")
			require.Equal(t, loose, again)
		}
		for _, r := range []*upstream.Error{refusal, looseRefusal} {
			if r == nil {
				continue
			}
			require.Equal(t, envelope.InvalidResponse, r.Code)
			require.Equal(t, r.Field, schema.Declared(r.Field))
			require.NotEmpty(t, r.Rule)
			require.False(t, strings.ContainsAny(r.Rule, " \"{"))
		}
	})
}
