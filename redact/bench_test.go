package redact_test

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/redact"
)

// document is one of about 4 KB.
func document(tb testing.TB) jsontext.Value {
	tb.Helper()
	type line struct {
		SKU      string `json:"sku"`
		Quantity int64  `json:"quantity"`
		Note     string `json:"note"`
	}
	lines := make([]line, 60)
	for i := range lines {
		lines[i] = line{fmt.Sprintf("SKU-%06d", i), int64(i), "deliver to the back door"}
	}
	doc, err := json.Marshal(map[string]any{"customer_id": "c_1", "lines": lines})
	require.NoError(tb, err)
	return doc
}

func BenchmarkCanonical(b *testing.B) {
	doc := document(b)
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		_, err := redact.Canonical(doc)
		require.NoError(b, err)
	}
}

func BenchmarkDigester(b *testing.B) {
	d, doc := digester(b, key("a", 1)), document(b)
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		d.Sum("t1", doc)
	}
}

func BenchmarkSealer(b *testing.B) {
	s, doc := sealer(b, key("a", 1)), document(b)
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		sealed, err := s.Seal(b.Context(), []byte("aad"), doc)
		require.NoError(b, err)
		_, err = s.Open(b.Context(), []byte("aad"), sealed)
		require.NoError(b, err)
	}
}

func BenchmarkVisible(b *testing.B) {
	text := string(document(b))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		redact.Visible(text)
	}
}

func BenchmarkCanary(b *testing.B) {
	c, err := redact.NewCanary("Zq7-canary-Kx9")
	require.NoError(b, err)
	doc := document(b)
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		require.Empty(b, c.Search(doc))
	}
}
