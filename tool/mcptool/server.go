package mcptool

import (
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
)

// source says whose run a request is of, and what ends with the request.
type source func(extra *mcp.RequestExtra) (*request, error)

// request is what the host's side knows of one request.
type request struct {
	run  *tool.Run
	gone <-chan struct{} // closed when the connection of the request is; nil: it lasts as long as the call
}

// service answers the calls of one role.
type service struct {
	cfg     Config
	from    source
	classes map[string]string // of each tool, by its wire name
}

// newServer returns the SDK's server of the published tools. A name that stands twice is an error: the SDK would keep the last.
func newServer(cfg Config, tools []tool.Published, from source) (*mcp.Server, error) {
	s := &service{cfg: cfg, from: from, classes: map[string]string{}}
	server := mcp.NewServer(&mcp.Implementation{Name: cfg.Name, Title: cfg.Title, Version: cfg.Version}, &mcp.ServerOptions{
		Instructions: cfg.Instructions,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
		// What a list holds is the role's: the SDK would let everybody's cache keep it.
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" },
	})
	var errs []error
	for _, p := range tools {
		if s.classes[p.Name] != "" {
			errs = append(errs, fmt.Errorf("mcptool: tool %q: stands twice", p.Name))
			continue
		}
		s.classes[p.Name] = p.Class
		output := envelope.Schema(p.Name, p.Output, p.Codes...)
		if output == nil || p.Input.Kind() != '{' {
			errs = append(errs, fmt.Errorf("mcptool: tool %q: has no schema", p.Name))
			continue
		}
		server.AddTool(&mcp.Tool{
			Name: p.Name, Title: p.Title, Description: p.Description, Annotations: annotations(p), InputSchema: p.Input, OutputSchema: output,
		}, s.call)
	}
	server.AddReceivingMiddleware(s.unknownTools)
	return server, errors.Join(errs...)
}

// annotations are the hints of the protocol, all of them said.
func annotations(p tool.Published) *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{
		Title:           p.Title,
		ReadOnlyHint:    p.Class == "read",
		DestructiveHint: new(p.Class == tool.Irreversible.String()),
		IdempotentHint:  true, // a preview joins its like, a commit replays, and a read changes nothing
		OpenWorldHint:   new(p.OpenWorld),
	}
}

// call takes one call to the boundary, its arguments untouched, and the envelope back.
func (s *service) call(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	from, err := s.from(req.Extra)
	if err != nil {
		return nil, err
	}
	ctx, end := from.within(ctx)
	defer end()
	r := from.run.Call(ctx, called(req.Params))
	address := s.page(s.undecided(r))
	if address == "" {
		return result(r), nil
	}
	return s.askFor(ctx, req, from.run, r, address)
}

// within lets the end of the connection reach the call.
func (r *request) within(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	if r.gone == nil {
		return ctx, cancel
	}
	go func() {
		select {
		case <-r.gone:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

func called(p *mcp.CallToolParamsRaw) envelope.Call {
	if len(p.Arguments) == 0 { // the protocol's own spelling of no arguments
		return envelope.Call{Tool: p.Name, Arguments: jsontext.Value("{}")}
	}
	return envelope.Call{Tool: p.Name, Arguments: p.Arguments}
}

// result is the envelope, as structured content and as text.
func result(r envelope.Result) *mcp.CallToolResult {
	body := encoded(r)
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(body)}}, StructuredContent: body, IsError: !r.OK}
}

func encoded(r envelope.Result) jsontext.Value {
	body, err := json.Marshal(r)
	if err != nil { // cannot happen: Data was checked
		body, _ = json.Marshal(envelope.Result{Tool: r.Tool, RequestID: r.RequestID, Error: envelope.New(envelope.Internal)})
	}
	return body
}

// unknownTools answers a name that the role does not have, after the run has counted and recorded the call.
func (s *service) unknownTools(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		params, ok := req.GetParams().(*mcp.CallToolParamsRaw)
		if !ok || s.classes[params.Name] != "" {
			return next(ctx, method, req)
		}
		from, err := s.from(req.GetExtra())
		if err != nil {
			return nil, err
		}
		r := from.run.Call(ctx, called(params))
		if r.OK { // the run has another role than the session that it is used in
			return result(r), nil
		}
		return nil, &jsonrpc.Error{Code: codeInvalidParams, Message: r.Error.Message, Data: []byte(encoded(r))}
	}
}
