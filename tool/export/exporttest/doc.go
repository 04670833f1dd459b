// Package exporttest judges exported tool definitions by the providers' documents, and keeps a catalogue's exports in a
// file that is compared in tests:
//
//	func TestExport(t *testing.T) {
//		exporttest.Golden(t, role.Published(), "testdata/export.golden")
//	}
//
// The judges [OpenAI], [OpenAIResponses], [Anthropic] and [Gemini] were written from the documents alone and share nothing
// with package export, so that both would have to misread a rule for it to go unseen. They judge any definitions, whoever
// wrote them. Each fault names the tool, the place in its schema, and the rule.
package exporttest
