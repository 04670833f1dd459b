package contracttest

import "testing"

const refundSchema = `{"type":"object","properties":{
 "account":{"type":"string","minLength":3,"maxLength":12,"pattern":"^[A-Z]{2}[0-9]+$"},
 "amount":{"type":"integer","minimum":1,"maximum":9223372036854775807},
 "rate":{"type":"number","minimum":0,"exclusiveMaximum":1,"multipleOf":0.01},
 "note":{"type":"string","maxLength":40},
 "tags":{"type":"array","items":{"type":"string","enum":["a","b","urgent"]},"maxItems":3,"uniqueItems":true},
 "when":{"type":"string","format":"date-time","maxLength":64},
 "maybe":{"anyOf":[{"type":"integer","minimum":5,"maximum":9},{"type":"null"}]},
 "labels":{"type":"object","additionalProperties":{"type":"string","maxLength":5},"maxProperties":4},
 "to":{"oneOf":[
  {"type":"object","properties":{"kind":{"type":"string","const":"iban"},"iban":{"type":"string","pattern":"^[A-Z]{2}[0-9]{2}[A-Z0-9]{4,8}$"}},"required":["kind","iban"],"additionalProperties":false},
  {"type":"object","properties":{"kind":{"type":"string","const":"card"},"last4":{"type":"string","pattern":"^[0-9]{4}$"},"node":{"$ref":"#/$defs/Node"}},"required":["kind","last4"],"additionalProperties":false}]}
},"required":["account","amount","to"],"additionalProperties":false,
"$defs":{"Node":{"type":"object","properties":{"name":{"type":"string","maxLength":9},"children":{"type":"array","maxItems":5,"items":{"$ref":"#/$defs/Node"}}},"required":["name"],"additionalProperties":false}}}`

func TestGeneratedCasesAgreeWithTheBoundary(t *testing.T) {
	t.Parallel()
	agree(t, refundSchema)
}
