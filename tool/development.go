package tool

import (
	"crypto/rand"
	"os"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/redact/audit"
)

// Development returns a Config for a first program: stores in memory, a random key, approval.ByRole, audit and log on
// standard error, and a worker in the process that starts with the first operation and ends with Close. Nothing of it
// survives the process, so NewDispatcher refuses it beside durable stores. Fields may be replaced.
func Development(policy approval.Table) Config {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails (crypto/rand)
	digester, err := redact.NewDigester(redact.Key{ID: "development", Secret: secret})
	if err != nil {
		digester = nil // NewDispatcher names it
	}
	log := zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), zapcore.Lock(os.Stderr), zap.InfoLevel))
	return Config{
		Policy: policy, Approvals: approval.NewMemory(nil), Authority: approval.ByRole{}, Ledger: idem.NewMemory(nil),
		Digester: digester, Audit: audit.NewZap(log), Quarantine: audit.NewMemoryQuarantine(audit.MemoryQuarantineConfig{}), Logger: log, development: true,
	}
}
