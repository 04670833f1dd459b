// The same documents through the Vercel AI SDK: npm install && node vercel.mjs
import { generateText, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { z } from 'zod';

const documents = [
  '{"id":1,"name":"a"}', '{"id":1,"id":2,"name":"a"}', '{"id":1,"name":"a","extra":true}', '{"id":1,"Name":"a"}', '{"id":"12","name":"a"}',
  '{"id":1,"name":null}', '{"id":1}', '{"id":9007199254740993,"name":"a"}', '{"id":1,"name":"\\ud800"}', '{"id":1,"name":"a"} {"id":2}',
];
const schemas = {
  object: z.object({ id: z.number(), name: z.string() }),
  int: z.object({ id: z.int(), name: z.string() }),
  strict: z.strictObject({ id: z.number(), name: z.string() }),
};

for (const [kind, inputSchema] of Object.entries(schemas)) {
  for (const input of documents) {
    let got = 'not called';
    const model = new MockLanguageModelV4({
      doGenerate: async () => ({
        finishReason: { unified: 'tool-calls', raw: 'tool_calls' },
        usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } },
        warnings: [],
        content: [{ type: 'tool-call', toolCallId: '1', toolName: 't', input }],
      }),
    });
    const result = await generateText({
      model,
      prompt: 'x',
      tools: {
        t: tool({
          description: 'd',
          inputSchema,
          outputSchema: z.object({ ok: z.boolean() }),
          execute: async args => {
            got = JSON.stringify(args);
            return { breaks: 'the output schema' };
          },
        }),
      },
    });
    const failure = result.content.find(part => part.type === 'tool-error');
    console.log(kind, input, '\n\t', got, failure ? String(failure.error).slice(0, 120) : JSON.stringify(result.toolResults[0]?.output));
  }
}
