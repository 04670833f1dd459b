package embedding_test

import (
	"context"
	"encoding/json/jsontext"
	"errors"
	"log/slog"
	"os"
	"time"
	"uuid"

	"go.uber.org/zap"
	"go.uber.org/zap/exp/zapslog"
	"go.uber.org/zap/zapcore"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/examples/embedding"
	"github.com/toolcontract/toolcontract/tool"
)

// A program that logs with log/slog gives the library a *zap.Logger on the same core: zap's bridge, zapslog, lets slog
// write to it. What both say comes out in one place and one form. The library says request id, code, place and Go type, and
// never a value: "42 Hidden Lane" stays out.
func Example_slog() {
	core := zapcore.NewCore(zapcore.NewJSONEncoder(zapcore.EncoderConfig{
		MessageKey: "msg", LevelKey: "level", EncodeLevel: zapcore.LowercaseLevelEncoder, NameKey: "logger",
	}), zapcore.Lock(os.Stdout), zapcore.InfoLevel)
	app := slog.New(zapslog.NewHandler(core)) // what the rest of the program logs with

	catalog, err := tool.NewCatalog(tool.Tool[embedding.OrderQuery, embedding.Order]{
		Spec: tool.Spec{Name: "get_order", Version: 1, Description: "Read an order's state.", Timeout: time.Second},
		Handle: func(context.Context, tool.Caller, embedding.OrderQuery) (embedding.Order, error) {
			return embedding.Order{}, errors.New("database: no route to 42 Hidden Lane")
		},
	})
	if err != nil {
		panic(err)
	}
	d, err := tool.NewDispatcher(catalog, tool.Config{
		Logger: zap.New(core).Named("tools"),
		NewID:  func() uuid.UUID { return uuid.UUID{} }, // so that the example prints the same each time
	})
	if err != nil {
		panic(err)
	}
	role, err := catalog.Role("reader", "get_order_v1")
	if err != nil {
		panic(err)
	}
	run, err := d.Start(tool.RunConfig{
		Principal: approval.Principal{Kind: approval.Service, Tenant: "acme", Subject: "agent"}, Role: role,
		Budget: tool.Budget{Calls: 10}, Deadline: time.Now().Add(time.Minute),
	})
	if err != nil {
		panic(err)
	}
	app.Info("serving", "role", role.Name())
	run.Call(context.Background(), envelope.Call{Tool: "get_order_v1", Arguments: jsontext.Value(`{"order_id":"1001"}`)})
	run.Call(context.Background(), envelope.Call{Tool: "get_order_v1", Arguments: jsontext.Value(`{"order_id":"42 Hidden Lane"}`)})

	// Output:
	// {"level":"info","msg":"serving","role":"reader"}
	// {"level":"info","logger":"tools","msg":"call_refused","request_id":"req_00000000000000000000000000","tool":"get_order_v1","code":"INTERNAL","field":"","cause_type":"*errors.errorString"}
	// {"level":"info","logger":"tools","msg":"call_refused","request_id":"req_00000000000000000000000000","tool":"get_order_v1","code":"INVALID_ARGUMENT","field":"order_id","cause_type":""}
}
