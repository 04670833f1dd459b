package trace_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/trace"
)

type weatherIn struct {
	City string `json:"city" jsonschema:"enum=Kiel,enum=Graz"`
}

type weatherOut struct {
	Sky string `json:"sky" jsonschema:"enum=clear,enum=overcast"`
}

// weather asks another system through [trace.Do].
func weather(ask func(city string) (string, error)) (*tool.Catalog, error) {
	return tool.NewCatalog(tool.Tool[weatherIn, weatherOut]{
		Spec: tool.Spec{Name: "get_weather", Version: 1, Description: "The sky over a city.", Timeout: time.Second},
		Handle: func(ctx context.Context, _ tool.Caller, in weatherIn) (weatherOut, error) {
			return trace.Do(ctx, "observatory.sky", in, func(context.Context) (weatherOut, error) {
				sky, err := ask(in.City)
				return weatherOut{sky}, err
			})
		},
	})
}

func start(c *tool.Catalog, wire func(*tool.Config) error) (*tool.Dispatcher, *tool.Run, error) {
	var cfg tool.Config
	if err := wire(&cfg); err != nil {
		return nil, nil, err
	}
	role, err := c.Role("visitor", "get_weather_v1")
	if err != nil {
		return nil, nil, err
	}
	d, err := tool.NewDispatcher(c, cfg)
	if err != nil {
		return nil, nil, err
	}
	run, err := d.Start(tool.RunConfig{
		ID: "run_1", Principal: approval.Principal{Kind: approval.Service, Tenant: "acme", Subject: "agent"}, Role: role,
		Budget: tool.Budget{Calls: 10}, Deadline: time.Now().Add(time.Minute),
	})
	return d, run, err
}

// A run is recorded, saved, and replayed without the observatory.
func Example() {
	if err := example(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	// Output:
	// call-1 get_weather_v1: same
	// call-2 get_weather_v1: same
}

func example(ctx context.Context) error {
	catalog, err := weather(func(string) (string, error) { return "overcast", nil })
	if err != nil {
		return err
	}
	recorder, err := trace.NewRecorder(trace.Config{})
	if err != nil {
		return err
	}
	_, run, err := start(catalog, func(cfg *tool.Config) error { recorder.Wire(cfg); return nil })
	if err != nil {
		return err
	}
	agent, err := recorder.Run(run)
	if err != nil {
		return err
	}
	agent.Call(ctx, envelope.Call{Tool: "get_weather_v1", Arguments: []byte(`{"city":"Kiel"}`)})
	agent.Call(ctx, envelope.Call{Tool: "get_weather_v1", Arguments: []byte(`{"city":"Atlantis"}`)})
	var file bytes.Buffer
	if err := recorder.Save(&file, agent.ID()); err != nil {
		return err
	}

	recorded, err := trace.Load(&file)
	if err != nil {
		return err
	}
	player := trace.NewPlayer(recorded, trace.PlayerConfig{})
	d, run, err := start(catalog, player.Wire)
	if err != nil {
		return err
	}
	report, err := player.Play(ctx, d, run)
	if err != nil {
		return err
	}
	for _, call := range report.Calls {
		fmt.Println(call)
	}
	return report.Err()
}
