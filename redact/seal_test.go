package redact_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/redact"
)

func sealer(t require.TestingT, keys ...redact.Key) redact.Sealer {
	s, err := redact.NewSealer(keys...)
	require.NoError(t, err)
	return s
}

func ExampleNewSealer() {
	s, _ := redact.NewSealer(redact.Key{ID: "2026-07", Secret: []byte("a secret of 32 bytes at the least")})
	ctx := context.Background()
	place := redact.AAD("tenant-1", "op_1", "plan", "1")
	sealed, _ := s.Seal(ctx, place, []byte(`{"amount":100}`))

	plain, err := s.Open(ctx, place, sealed)
	fmt.Println(string(plain), err)
	plain, err = s.Open(ctx, redact.AAD("tenant-2", "op_1", "plan", "1"), sealed)
	fmt.Println(string(plain), err)
	// Output:
	// {"amount":100} <nil>
	//  redact: the sealed text does not open
}

func TestSealer(t *testing.T) {
	t.Parallel()
	s := sealer(t, key("a", 1), key("b", 2))
	for _, plain := range [][]byte{nil, {}, []byte(canary), make([]byte, 1<<16)} {
		sealed, err := s.Seal(t.Context(), []byte("aad"), plain)
		require.NoError(t, err)
		require.Len(t, sealed, len(plain)+46+1)
		got, err := s.Open(t.Context(), []byte("aad"), sealed)
		require.NoError(t, err)
		require.True(t, bytes.Equal(plain, got))
	}
	one, err := s.Seal(t.Context(), []byte("aad"), []byte(canary))
	require.NoError(t, err)
	require.NotContains(t, string(one), canary[:4])
	two, err := s.Seal(t.Context(), []byte("aad"), []byte(canary))
	require.NoError(t, err)
	require.NotEqual(t, one, two, "equal texts do not show")
	require.NotEqual(t, one[3:19], two[3:19], "a fresh salt")
	require.NotEqual(t, one[19:31], two[19:31], "a fresh nonce")
	require.NotEqual(t, byte('{'), one[0], "not to be taken for a document")
}

func TestSealerOpensNothingElse(t *testing.T) {
	t.Parallel()
	s := sealer(t, key("a", 1), key("b", 1))
	aad := redact.AAD("t1", "op", "plan", "1")
	sealed, err := s.Seal(t.Context(), aad, []byte(canary))
	require.NoError(t, err)
	for i := range sealed {
		for _, bit := range []byte{0x01, 0x80} {
			broken := bytes.Clone(sealed)
			broken[i] ^= bit
			plain, err := s.Open(t.Context(), aad, broken)
			require.Error(t, err, "byte %d", i)
			require.Nil(t, plain)
		}
		_, err := s.Open(t.Context(), aad, sealed[:i])
		require.Error(t, err, "cut at %d", i)
	}
	_, err = s.Open(t.Context(), aad, append(bytes.Clone(sealed), 0))
	require.ErrorIs(t, err, redact.ErrSealed, "something behind it")
	for _, other := range [][]byte{
		nil, redact.AAD("t2", "op", "plan", "1"), redact.AAD("t1", "op2", "plan", "1"), redact.AAD("t1", "op", "result", "1"), redact.AAD("t1", "op", "plan", "2"), redact.AAD("t1op", "", "plan", "1"),
	} {
		_, err := s.Open(t.Context(), other, sealed)
		require.ErrorIs(t, err, redact.ErrSealed, "another place")
	}
	renamed := bytes.Replace(sealed, []byte("a"), []byte("b"), 1)
	_, err = s.Open(t.Context(), aad, renamed)
	require.ErrorIs(t, err, redact.ErrSealed, "the key's name is bound too, even where the secrets are equal")
	_, err = sealer(t, key("c", 1)).Open(t.Context(), aad, sealed)
	require.ErrorIs(t, err, redact.ErrKey, "a key that is not there is told from a text that was altered")
	_, err = sealer(t, key("a", 9)).Open(t.Context(), aad, sealed)
	require.ErrorIs(t, err, redact.ErrSealed, "another secret of the same name")
}

func TestSealerRotates(t *testing.T) {
	t.Parallel()
	before, err := sealer(t, key("old", 1)).Seal(t.Context(), nil, []byte("x"))
	require.NoError(t, err)
	s := sealer(t, key("new", 2), key("old", 1))
	plain, err := s.Open(t.Context(), nil, before)
	require.NoError(t, err)
	require.Equal(t, "x", string(plain))
	after, err := s.Seal(t.Context(), nil, []byte("x"))
	require.NoError(t, err)
	_, err = sealer(t, key("old", 1)).Open(t.Context(), nil, after)
	require.ErrorIs(t, err, redact.ErrKey, "the first key seals")
}

func TestAADTellsItsPartsApart(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	lists := [][]string{nil, {""}, {"", ""}, {"a"}, {"a", ""}, {"", "a"}, {"ab"}, {"a", "b"}, {"\x01a"}, {"a\x01b"}}
	for _, parts := range lists {
		seen[string(redact.AAD(parts...))] = true
	}
	require.Len(t, seen, len(lists))
}

func TestPlainSealsNothing(t *testing.T) {
	t.Parallel()
	in := []byte("x")
	sealed, err := redact.Plain().Seal(t.Context(), []byte("aad"), in)
	require.NoError(t, err)
	in[0] = 'y'
	require.Equal(t, "x", string(sealed), "a copy")
	plain, err := redact.Plain().Open(t.Context(), []byte("other"), sealed)
	require.NoError(t, err)
	sealed[0] = 'z'
	require.Equal(t, "x", string(plain), "and another")
}
